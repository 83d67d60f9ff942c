import CCurl
import Glibc

/// What only the library that libcurl uses for TLS can tell about a connection.
enum CurlTLS {
    /// Whether a transfer's connection may have decrypted bytes that libcurl has not read: those of a record that is
    /// longer than the body whose end it holds. True also if that can't be known.
    static func mayHoldBytes(_ easy: UnsafeMutableRawPointer) -> Bool {
        guard let session = ccurl_get_tls(easy), let connection = session.pointee.internals else { return true }
        switch session.pointee.backend {
        case CURLSSLBACKEND_OPENSSL:
            guard let function = function("SSL_has_pending") else { return true }
            typealias HasPending = @convention(c) (UnsafeMutableRawPointer) -> CInt
            return unsafeBitCast(function, to: HasPending.self)(connection) != 0
        case CURLSSLBACKEND_GNUTLS:
            guard let function = function("gnutls_record_check_pending") else { return true }
            typealias CheckPending = @convention(c) (UnsafeMutableRawPointer) -> Int
            return unsafeBitCast(function, to: CheckPending.self)(connection) != 0
        default: return true
        }
    }

    /// Finds a function among the libraries that libcurl itself is linked with: a program may have another version of
    /// the same library.
    private static func function(_ name: String) -> UnsafeMutableRawPointer? {
        for library in ["libcurl.so.4", "libcurl-gnutls.so.4"] {
            guard let handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD) else { continue }
            defer { dlclose(handle) }
            if let function = dlsym(handle, name) { return function }
        }
        return nil
    }
}
