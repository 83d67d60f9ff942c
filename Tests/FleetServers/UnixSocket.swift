import Foundation
import LibC

/// A socket in the file system.
enum UnixSocket {
    /// Opens a socket and binds or connects it.
    /// - Parameter use: Returns 0 if that succeeded, as the system's functions do.
    static func open(at path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Socket.stream, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard descriptor >= 0, result == 0 else { throw RedisServer.Failure(said: "no socket at \(path)") }
        return descriptor
    }
}
