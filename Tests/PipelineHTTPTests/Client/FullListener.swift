import LibC
import Testing

/// A port whose queue of connections is full, so that another one never completes.
final class FullListener {
    let port: Int
    private var sockets: [Int32] = []

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let opened = (0..<4).map { _ in Socket.open(AF_INET) }
        for socket in opened { _ = fcntl(socket, F_SETFL, O_NONBLOCK) }
        let status = withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
            guard bind(opened[0], address, length) == 0, listen(opened[0], 0) == 0 else { return -1 }
            guard getsockname(opened[0], address, &length) == 0 else { return -1 }
            for client in opened.dropFirst() { _ = connect(client, address, length) }
            return 0
        }
        try #require(status == 0)
        port = Int(UInt16(bigEndian: address.sin_port))
        sockets = opened
    }

    deinit { for socket in sockets { close(socket) } }
}
