import LibC
import Testing

/// Opens a socket that listens on a free port of this machine.
/// - Parameter isInherited: Whether programs that are started later get it.
package func listenOnLoopback(isInherited: Bool = false) throws -> (socket: Int32, port: Int) {
    let listener = isInherited ? socket(AF_INET, Socket.stream, 0) : Socket.open(AF_INET)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutableBytes(of: &address) { bytes -> Int32 in
        guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return -1 }
        guard bind(listener, address, length) == 0, listen(listener, 1024) == 0 else { return -1 }
        return getsockname(listener, address, &length)
    }
    try #require(status == 0)
    return (listener, Int(UInt16(bigEndian: address.sin_port)))
}
