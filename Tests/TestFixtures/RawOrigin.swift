import LibC
import Pipeline
import Testing

/// An origin, or a plain proxy, on bare sockets: a test decides which bytes it sends, and when.
package final class RawOrigin: Sendable {
    package typealias Handler = @Sendable (RawRequest, RawConnection) -> Void

    private struct State {
        var connections: [RawConnection] = []
        var requests: [RawRequest] = []
        var isStopped = false
    }

    package let port: Int
    private let listener: Int32
    private let state: Lock<State>

    /// - Parameter handler: sends the response to a request, on the thread of the connection.
    package init(_ handler: @escaping Handler) throws {
        let listener: Int32
        (listener, port) = try listenOnLoopback()
        self.listener = listener
        let state = Lock(State())
        self.state = state
        try Thread.start(name: "raw-origin") { Self.accept(listener, state, handler) }
    }

    deinit {
        // The threads hold only the state.
        let connections = state.withLock { state in
            state.isStopped = true
            return state.connections
        }
        LibC.shutdown(listener, Int32(SHUT_RDWR))
        for connection in connections { connection.stop() }
    }

    /// The requests so far.
    package var requests: [RawRequest] { state.withLock { $0.requests } }

    /// The connections so far, closed ones included.
    package var connections: [RawConnection] { state.withLock { $0.connections } }

    private static func accept(_ listener: Int32, _ state: Lock<State>, _ handler: @escaping Handler) {
        defer { close(listener) }
        while true {
            let socket = Socket.accept(listener)
            guard socket >= 0 else { return }
            var yes: Int32 = 1
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
            let connection = state.withLock { state -> RawConnection in
                let connection = RawConnection(socket, number: state.connections.count + 1)
                state.connections.append(connection)
                return connection
            }
            if state.withLock({ $0.isStopped }) { connection.stop() }
            do {
                try Thread.start(name: "raw-origin") {
                    while let request = connection.nextRequest() {
                        state.withLock { $0.requests.append(request) }
                        handler(request, connection)
                    }
                    connection.end()
                }
            } catch { connection.end() }
        }
    }
}

/// The head of a request; these tests send no content.
package struct RawRequest: Sendable {
    package let method: String
    /// As it stood in the request line: for a proxy the whole URL.
    package let target: String
    package let fields: [String: String]
    /// Which connection it came on, counted from 1.
    package let connection: Int

    package init?(_ head: [UInt8], connection: Int) {
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        (method, target) = (String(words[0]), String(words[1]))
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " }) }
        }
        self.fields = fields
        self.connection = connection
    }
}
