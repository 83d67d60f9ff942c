import CHiredis
import LibC
import Pipeline

/// One connection to a server through hiredis, without blocking. Only the thread of its loop touches it.
final class RedisLink {
    private let context: UnsafeMutablePointer<redisContext>
    /// Whether the socket is connected. Until then, nothing is written.
    private(set) var isConnected = false
    private var hasOutput = false
    private var buffer = [UInt8](repeating: 0, count: 131_072)

    /// Begins to connect.
    /// - Throws: ``RedisFailure``.
    init(_ endpoint: RedisAddress.Endpoint) throws(RedisFailure) {
        let context =
            switch endpoint {
            case .host(let host, let port): redisConnectNonBlock(host, Int32(clamping: port))
            case .socket(let path): redisConnectUnixNonBlock(path)
            }
        guard let context else { throw .unreachable("no memory is left for a connection") }
        self.context = context
        // A stored property must be set before this may throw, since `deinit` frees the context.
        guard context.pointee.err == 0 else { throw failure() }
    }

    deinit { redisFree(context) }

    /// The socket.
    var descriptor: Int32 { context.pointee.fd }

    /// The events to poll for.
    var events: Int16 { Int16(POLLIN) | (hasOutput || !isConnected ? Int16(POLLOUT) : 0) }

    /// Adds a command to the output.
    func append(_ arguments: [[UInt8]]) {
        hasOutput = true
        let joined = arguments.flatMap(\.self)
        joined.withUnsafeBytes { bytes in
            var rest = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var starts: [UnsafePointer<CChar>?] = []
            let lengths = arguments.map(\.count)
            for length in lengths {
                // hiredis copies no byte of an empty argument, but reads its pointer.
                starts.append(rest)
                rest = rest.map { $0 + length }
            }
            _ = redisAppendCommandArgv(context, Int32(arguments.count), &starts, lengths)
        }
    }

    /// Continues to connect, writes and reads, as far as the socket allows.
    /// - Throws: ``RedisFailure`` if the connection is lost.
    func proceed(_ events: Int16) throws(RedisFailure) {
        if !isConnected {
            guard events != 0 else { return }
            var (error, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
            guard error == 0 else { throw .unreachable(String(cString: strerror(error))) }
            isConnected = true
        }
        if events & Int16(POLLIN | POLLHUP | POLLERR) != 0 { try read() }
        try flush()
    }

    /// Reads what has arrived. hiredis' own `redisBufferRead` takes 16 KB at a time, which is less than most replies.
    private func read() throws(RedisFailure) {
        let count = buffer.withUnsafeMutableBytes { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { replies.add(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            return count
        }
        if count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR) { return }
        throw .unreachable(count == 0 ? "the server closed the connection" : String(cString: strerror(errno)))
    }

    /// Writes what the socket takes now.
    func flush() throws(RedisFailure) {
        guard isConnected, hasOutput else { return }
        var isDone: Int32 = 0
        guard redisBufferWrite(context, &isDone) == REDIS_OK else { throw failure() }
        hasOutput = isDone == 0
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
