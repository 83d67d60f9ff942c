import Foundation

/// A TCP connection to a server on this machine, for requests that no client would send.
final class RawConnection: Sendable {
    private let socket: Int32

    init(port: Int) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(socket) }

    /// Sends text, with CR LF for each line's end.
    func send(_ text: String) {
        let bytes = Array(text.replacingOccurrences(of: "\n", with: "\r\n").utf8)
        _ = Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Closes the sending side alone.
    func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Everything that the server sends until it closes the connection; `nil` if it doesn't.
    func rest() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                var all: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = recv(socket, &buffer, buffer.count, 0)
                    guard count > 0 else {
                        return continuation.resume(returning: count == 0 ? String(decoding: all, as: UTF8.self) : nil)
                    }
                    all += buffer[..<count]
                }
            }
        }
    }
}
