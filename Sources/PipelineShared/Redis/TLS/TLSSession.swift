import CTLS
import LibC
import Pipeline

/// A TLS session of a client on a connected socket that doesn't block, with OpenSSL. Only one thread touches it, which
/// blocks SIGPIPE.
final class TLSSession {
    private let session: OpaquePointer
    private let hasCertificate: Bool
    /// Whether the session waits until the socket can be written, whatever the caller wants to do next.
    private(set) var wantsOutput = false
    /// Whether the handshake is over.
    private(set) var isReady = false
    private var hasFailed = false

    /// Prepares a session; nothing is sent yet.
    /// - Parameters:
    ///   - host: The name or address by which the server was found.
    ///   - socket: Belongs to the caller, who closes it after the session has ended.
    /// - Throws: ``RedisFailure`` if a file can't be used.
    init(_ tls: RedisTLS, host: String, on socket: Int32) throws(RedisFailure) {
        Self.prepare
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw .unreachable("OpenSSL can't be used") }
        // The session keeps it.
        defer { SSL_CTX_free(context) }
        ctls_configure(context)
        try Self.trust(tls, context)
        try Self.identify(tls, context)
        guard let session = SSL_new(context) else { throw .unreachable("no memory is left for a connection") }
        self.session = session
        hasCertificate = tls.certificate != nil
        let given = tls.serverName ?? host
        // Names in certificates don't end with the dot that a full name may have.
        let name = given.hasSuffix(".") ? String(given.dropLast()) : given
        let isNamed: Int32
        if RedisResolver.isAddress(name) {
            isNamed = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name)
        } else {
            ctls_set_server_name(session, name)
            isNamed = SSL_set1_host(session, name)
        }
        guard isNamed == 1, SSL_set_fd(session, socket) == 1 else {
            throw .unreachable("its certificate can't be compared with the name \(printable(name))")
        }
        SSL_set_connect_state(session)
    }

    deinit {
        // Tells the server that this is the end, as far as the socket takes it.
        if isReady, !hasFailed { SSL_shutdown(session) }
        SSL_free(session)
    }

    /// Continues the handshake as far as the socket allows.
    /// - Throws: ``RedisFailure``, also if the server's certificate is refused.
    func shakeHands() throws(RedisFailure) {
        isReady = try proceed { SSL_do_handshake(session) } > 0
    }

    /// Reads what has arrived, at most as much as the buffer takes.
    /// - Parameter buffer: Has room for at least one record, ``longestRecord`` bytes.
    /// - Returns: The number of bytes. 0 if none has arrived.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(RedisFailure) -> Int {
        var count = 0
        // A record is read whole, so none of its bytes waits in the session, where a poll of the socket sees none.
        while buffer.count - count >= Self.longestRecord {
            let more = try proceed {
                SSL_read(session, buffer.baseAddress.map { $0 + count }, Int32(clamping: buffer.count - count))
            }
            if more == 0 { break }
            count += more
        }
        return count
    }

    /// Writes some bytes, as far as the socket takes them. The rest has to be written later, before any others.
    /// - Returns: The number of bytes that are written.
    func write(_ bytes: UnsafeRawBufferPointer) throws(RedisFailure) -> Int {
        try proceed { SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count)) }
    }

    /// The most bytes that one record brings (RFC 8446 section 5.1).
    static let longestRecord = 16_384

    /// Makes a call.
    /// - Returns: Its positive result; 0 if it has to be made again once the socket is ready.
    private func proceed(_ call: () -> Int32) throws(RedisFailure) -> Int {
        wantsOutput = false
        ERR_clear_error()
        errno = 0
        let result = call()
        if result > 0 { return Int(result) }
        let number = errno
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return 0
        case SSL_ERROR_WANT_WRITE:
            wantsOutput = true
            return 0
        case let code:
            let failure = TLSFailure(
                verification: Int32(truncatingIfNeeded: SSL_get_verify_result(session)),
                error: code == SSL_ERROR_SSL ? ERR_peek_error() : 0,
                systemError: code == SSL_ERROR_SYSCALL ? number : 0, isShakingHands: !isReady,
                hasCertificate: hasCertificate)
            hasFailed = true
            throw .unreachable(failure.description)
        }
    }

    private static func trust(_ tls: RedisTLS, _ context: OpaquePointer) throws(RedisFailure) {
        guard let file = tls.authorities else {
            SSL_CTX_set_default_verify_paths(context)
            return
        }
        guard SSL_CTX_load_verify_file(context, file) == 1 else {
            throw .unreachable(
                "the file of ?ca= can't be read, or has no certificate in PEM: \(printable(file))")
        }
    }

    private static func identify(_ tls: RedisTLS, _ context: OpaquePointer) throws(RedisFailure) {
        guard let certificate = tls.certificate else { return }
        // Otherwise OpenSSL asks for a passphrase on the terminal.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
            throw .unreachable(
                "the file of ?cert= can't be read, or has no certificate in PEM: \(printable(certificate))")
        }
        let key = tls.key ?? certificate
        guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
            throw .unreachable(
                "the key of ?cert= can't be read, has a passphrase or belongs to another certificate: \(printable(key))"
            )
        }
    }

    private static let prepare: Void = ctls_outlive_exit()
}
