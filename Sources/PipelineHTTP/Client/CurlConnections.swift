import CCurl
import LibC

/// The connections that libcurl may keep for later requests, by socket; only libcurl's thread touches them.
///
/// libcurl 7.88 sends a request on a kept connection without looking at what has arrived there since the last response
/// ended. Those bytes would be taken for the response to the new request, so such a connection is not used again.
struct CurlConnections {
    /// The two ends of a connection, as libcurl names them.
    struct Ends: Hashable {
        let local: String
        let localPort: Int32
        let remote: String
        let remotePort: Int32
    }

    private enum Use: Equatable {
        /// No response has arrived yet, or the protocol numbers responses, as HTTP/2 does.
        case numbered
        /// The last response was HTTP/1, from this origin.
        case http1(CurlURL)
    }

    private var connections: [Ends: (socket: Int32, use: Use)] = [:]
    /// The last connection of each socket's number, which the system gives away again once it is closed.
    private var ends: [Int32: Ends] = [:]

    /// Notes a new connection, which is one of these sockets.
    /// - Returns: false if it is none of them, so it was opened for an earlier request.
    mutating func note(_ new: Ends, among sockets: [Int32]) -> Bool {
        guard !sockets.isEmpty else { return false }
        let local = Address(new.local)
        let socket = sockets.first { Self.localEnd(of: $0).map { $0 == (local, new.localPort) } ?? false }
        guard let socket else { return false }
        if let old = ends.updateValue(new, forKey: socket) { connections[old] = nil }
        connections[new] = (socket, .numbered)
        return true
    }

    /// Notes that a connection has carried a response of HTTP/1, which has no number.
    mutating func carriedHTTP1(_ ends: Ends, from origin: CurlURL) { connections[ends]?.use = .http1(origin) }

    /// Whether a kept connection may carry a request to an origin.
    ///
    /// A proxy's connection carries requests to one origin alone: bytes that arrive between the request and its response
    /// can't be told from the response, so an origin could respond for another.
    /// - Parameter mayHoldBytes: whether bytes of the connection may be in memory of TLS, decrypted and not read.
    func mayReuse(_ ends: Ends, for origin: CurlURL, mayHoldBytes: () -> Bool) -> Bool {
        // A connection whose first response hasn't arrived can only be one that numbers its responses.
        guard let (socket, use) = connections[ends] else { return false }
        guard case .http1(let last) = use else { return true }
        return last == origin && Self.isQuiet(socket) && !mayHoldBytes()
    }

    /// Whether nothing waits to be read, neither bytes nor the connection's end. Over TLS that may also be a message of
    /// the protocol itself, which is rare once a response has arrived.
    private static func isQuiet(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) < 0 && errno == EAGAIN
    }

    private static func localEnd(of socket: Int32) -> (Address?, Int32)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                // Fails if its other end has reset it already.
                getsockname(socket, address, &length) == 0
            else { return nil }
            // The port is the first field of both kinds of address.
            let port = Int32(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
            // Behind the length on macOS.
            let family = Int32(address.pointee.sa_family)
            return (Address(socketAddress: UnsafeRawBufferPointer(bytes), family: family), port)
        }
    }
}
