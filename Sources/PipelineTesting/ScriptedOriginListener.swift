import LibC
import Pipeline

/// The socket on which an origin accepts connections.
struct ScriptedOriginListener: Sendable {
    let port: Int
    private let socket: Int32

    init() throws {
        socket = Socket.open(AF_INET)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutableBytes(of: &address) { [socket] bytes -> Int32 in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            guard bind(socket, address, length) == 0, listen(socket, 4096) == 0 else { return -1 }
            return getsockname(socket, address, &length)
        }
        guard status == 0 else {
            let reason = errno
            close(socket)
            throw LoadError(.unreachable, subject: "127.0.0.1", "The system gives no port (error \(reason)).")
        }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Accepts connections until the origin stops, and serves each on a thread of its own.
    func serve(_ core: ScriptedOriginCore) {
        defer { close(socket) }
        while core.stopped.wait(on: socket, for: POLLIN) != 0 {
            let connection = Socket.accept(socket)
            guard connection >= 0 else { continue }
            var yes: Int32 = 1
            setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
            let number = core.note { log in
                log.connections += 1
                return log.connections
            }
            core.start { ScriptedOriginConnection(socket: connection, number: number, core: core).serve() }
        }
    }
}
