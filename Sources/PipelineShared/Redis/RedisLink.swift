import CHiredis
import LibC
import Pipeline

/// One connection to a server, without blocking: hiredis connects and reads replies; OpenSSL encrypts. Only the thread of
/// its loop touches it.
final class RedisLink {
    private let context: UnsafeMutablePointer<redisContext>
    private let tls: RedisTLS?
    private let host: String
    /// What to do about a server that ends the connection before it replies.
    private let advice: String
    /// The session of TLS, once the socket is connected.
    private var session: TLSSession?
    /// Whether the socket is connected, and TLS's handshake is over. Until then, nothing is written.
    private(set) var isConnected = false
    private var isOpen = false
    private var hasReceived = false
    private var output: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 131_072)

    /// Begins to connect.
    /// - Parameters:
    ///   - tls: How to encrypt; `nil` not to.
    ///   - host: The name or address by which the server was found, which its certificate must have.
    ///   - isProven: Whether a connection to this address has worked before, so that the address is right.
    /// - Throws: ``RedisFailure``.
    init(
        _ endpoint: RedisAddress.Endpoint, _ tls: RedisTLS? = nil, host: String = "", isProven: Bool = false
    ) throws(RedisFailure) {
        let context =
            switch endpoint {
            case .host(let host, let port): redisConnectNonBlock(host, Int32(clamping: port))
            case .socket(let path): redisConnectUnixNonBlock(path)
            case .primary: throw .unreachable("its sentinels weren't asked")
            }
        guard let context else { throw .unreachable("no memory is left for a connection") }
        (self.context, self.tls, self.host) = (context, tls, host)
        advice =
            if case .host = endpoint, tls == nil, !isProven { ". If its port is for TLS, write rediss://" } else { "" }
        // A stored property must be set before this may throw, since `deinit` frees the context.
        guard context.pointee.err == 0 else { throw failure() }
    }

    deinit {
        // Its end is the last that the socket sends.
        session = nil
        redisFree(context)
    }

    /// The socket.
    var descriptor: Int32 { context.pointee.fd }

    /// Whether the server has yet to do its part of TLS's handshake.
    var isShakingHands: Bool { isOpen && !isConnected }

    /// The failure if it takes too long to connect or to reply.
    var timeOut: RedisFailure { isShakingHands ? .unreachable(TLSFailure.silent) : .timedOut }

    /// The events to poll for.
    var events: Int16 {
        let wantsOutput = isConnected ? !output.isEmpty : !isOpen
        return Int16(POLLIN) | (wantsOutput || session?.wantsOutput == true ? Int16(POLLOUT) : 0)
    }

    /// Adds a command to the output.
    func append(_ arguments: [[UInt8]]) {
        output += "*\(arguments.count)\r\n".utf8
        for argument in arguments {
            output += "$\(argument.count)\r\n".utf8
            output += argument
            output += "\r\n".utf8
        }
    }

    /// Continues to connect, writes and reads, as far as the socket allows.
    /// - Throws: ``RedisFailure`` if the connection is lost.
    func proceed(_ events: Int16) throws(RedisFailure) {
        guard events != 0 else { return }
        if !isConnected {
            try connect()
            guard isConnected else { return }
        }
        if events & Int16(POLLIN | POLLHUP | POLLERR) != 0 || session?.wantsOutput == true { try read() }
        try flush()
    }

    private func connect() throws(RedisFailure) {
        if !isOpen {
            var (error, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
            guard error == 0 else { throw .unreachable(String(cString: strerror(error))) }
            session = try tls.map { tls throws(RedisFailure) in try TLSSession(tls, host: host, on: descriptor) }
            isOpen = true
        }
        try session?.shakeHands()
        isConnected = session?.isReady ?? true
    }

    /// Reads what has arrived. hiredis' own `redisBufferRead` takes 16 KB at a time, which is less than most replies.
    private func read() throws(RedisFailure) {
        let count: Int
        if let session {
            count = try buffer.withUnsafeMutableBufferPointer { bytes throws(RedisFailure) in
                try session.read(into: UnsafeMutableRawBufferPointer(bytes))
            }
        } else {
            count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
            guard count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR) else {
                let reason = count == 0 ? "the server closed the connection" : String(cString: strerror(errno))
                throw .unreachable(reason + (hasReceived ? "" : advice))
            }
        }
        guard count > 0 else { return }
        if !hasReceived, buffer.starts(with: Self.alert) { throw .unreachable("its reply is TLS" + advice) }
        hasReceived = true
        buffer.withUnsafeBytes { replies.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// How TLS refuses what isn't TLS (RFC 8446 section 5.1).
    private static let alert: [UInt8] = [21, 3]

    /// Writes what the socket takes now.
    func flush() throws(RedisFailure) {
        guard isConnected, !output.isEmpty else { return }
        var written = 0
        while written < output.count {
            let count = try output.withUnsafeBufferPointer { bytes throws(RedisFailure) in
                try write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[written...])))
            }
            if count == 0 { break }
            written += count
        }
        if written == output.count {
            output.removeAll(keepingCapacity: written <= 65_536)
        } else {
            output.removeFirst(written)
        }
    }

    /// Writes some bytes.
    /// - Returns: How many the socket takes now.
    private func write(_ bytes: UnsafeRawBufferPointer) throws(RedisFailure) -> Int {
        if let session {
            do throws(RedisFailure) { return try session.write(bytes) } catch {
                // A server that refuses this client's certificate says so, and ends the connection, after the handshake.
                try read()
                throw error
            }
        }
        let count = send(descriptor, bytes.baseAddress, bytes.count, Socket.withoutSignal | Int32(MSG_DONTWAIT))
        guard count >= 0 || errno == EAGAIN || errno == EINTR else {
            throw .unreachable(String(cString: strerror(errno)))
        }
        return max(0, count)
    }

    /// The next reply that has arrived; `nil` if there is none.
    func nextReply() throws(RedisFailure) -> RedisValue? { try replies.next() }

    private var replies: RedisReplies { RedisReplies(context.pointee.reader) }

    private func failure() -> RedisFailure {
        let text = withUnsafeBytes(of: &context.pointee.errstr) { text in
            String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
        return .unreachable(text.isEmpty ? "the connection failed" : printable(text))
    }
}
