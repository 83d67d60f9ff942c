import CCurl
import LibC

/// What only the library that libcurl uses for TLS can tell about a connection.
enum CurlTLS {
    /// Whether a transfer's connection may have decrypted bytes that libcurl has not read: those of a record that is
    /// longer than the body whose end it holds. True also if that can't be known.
    static func mayHoldBytes(_ easy: UnsafeMutableRawPointer) -> Bool {
        guard let session = ccurl_get_tls(easy), let connection = session.pointee.internals else { return true }
        switch session.pointee.backend {
        case CURLSSLBACKEND_OPENSSL:
            return hasPending.map { $0(connection) != 0 } ?? true
        case CURLSSLBACKEND_GNUTLS:
            return checkPending.map { $0(connection) != 0 } ?? true
        default: return true
        }
    }

    /// Keeps OpenSSL from freeing its state in `exit`, while the client's threads still use it. The system takes it back
    /// anyway. Without effect if the program itself has called OpenSSL before.
    static func outlivesExit() {
        // OPENSSL_INIT_NO_ATEXIT, since 1.1.1b.
        _ = initialize?(0x0008_0000, nil)
    }

    private typealias Initialize = @convention(c) @Sendable (UInt64, UnsafeRawPointer?) -> CInt
    private static let initialize = function("OPENSSL_init_crypto").map { unsafeBitCast($0, to: Initialize.self) }

    private typealias HasPending = @convention(c) @Sendable (UnsafeMutableRawPointer) -> CInt
    private static let hasPending = function("SSL_has_pending").map { unsafeBitCast($0, to: HasPending.self) }

    private typealias CheckPending = @convention(c) @Sendable (UnsafeMutableRawPointer) -> Int
    private static let checkPending = function("gnutls_record_check_pending").map {
        unsafeBitCast($0, to: CheckPending.self)
    }

    /// Finds a function among the libraries that libcurl itself is linked with: a program may have another version of
    /// the same library.
    private static func function(_ name: String) -> UnsafeMutableRawPointer? {
        for library in ["libcurl", "libcurl-gnutls"] {
            guard let handle = dlopen(libraryFile(library, "4"), RTLD_LAZY | RTLD_NOLOAD) else { continue }
            defer { dlclose(handle) }
            if let function = dlsym(handle, name) { return function }
        }
        return nil
    }
}
