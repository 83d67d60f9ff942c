import LibC

/// A port on this machine on which nothing listens.
package func freePort() throws -> Int {
    let socket = socket(AF_INET, Socket.stream, 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
        }
    }
    guard isBound else { throw RedisServer.Failure(said: "no port is free") }
    return Int(UInt16(bigEndian: address.sin_port))
}
