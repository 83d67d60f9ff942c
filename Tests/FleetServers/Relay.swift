import Foundation
import LibC
import Pipeline
package import PipelineShared

/// A link to a Redis server that a test can slow down or cut. It ends with the test.
package final class Relay: Sendable {
    private struct State {
        var delay: UInt32 = 0
        var isCut = false
        var isOver = false
        var connections: [Connection] = []
    }

    /// Two sockets, which are closed once no thread uses them.
    private final class Connection: Sendable {
        let near, far: Int32

        init(_ near: Int32, _ far: Int32) { (self.near, self.far) = (near, far) }

        deinit {
            close(near)
            close(far)
        }

        func end() { for descriptor in [near, far] { shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    /// What the threads share with the relay, which they don't keep alive.
    private final class Link: Sendable {
        let state = Monitor(State())
        let server: String

        init(server: String) { self.server = server }

        /// Waits as long as the link takes, and while it is cut; false once it is over.
        func passes() -> Bool {
            usleep(state.withLock { $0.delay })
            return state.wait(for: { $0.isOver ? false : $0.isCut ? nil : true }, whileIdle: { _, _ in })
        }
    }

    private let link: Link
    private let path: String
    private let listener: Int32

    /// The address of the link's near end.
    package var address: RedisAddress { RedisAddress(.socket(path: path)) }

    /// Opens a link to a server.
    package init(to server: RedisServer) throws {
        link = Link(server: server.socket)
        path = server.folder + "/relay-\(UUID().uuidString.prefix(8))"
        let listener = try UnixSocket.open(at: path) { bind($0, $1, $2) == 0 ? listen($0, 64) : -1 }
        self.listener = listener
        Thread.detachNewThread { [link] in
            while true {
                let near = accept(listener, nil, nil)
                guard near >= 0 else { break }
                Thread.detachNewThread {
                    guard link.passes(), let far = try? UnixSocket.open(at: link.server, connect)
                    else {
                        close(near)
                        return
                    }
                    let connection = Connection(near, far)
                    link.state.withLock { $0.connections.append(connection) }
                    Thread.detachNewThread { Self.pump(from: far, to: near, connection, link) }
                    Self.pump(from: near, to: far, connection, link)
                }
            }
            close(listener)
        }
    }

    deinit {
        let connections = link.state.withLock(wake: .all) { state in
            state.isOver = true
            defer { state.connections = [] }
            return state.connections
        }
        for connection in connections { connection.end() }
        // The thread that accepts closes it.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Lets bytes take this long in each direction.
    package func setDelay(milliseconds: Int) { link.state.withLock { $0.delay = UInt32(milliseconds * 1000) } }

    /// Holds all bytes back, or lets them pass again.
    package func setCut(_ isCut: Bool) { link.state.withLock(wake: .all) { $0.isCut = isCut } }

    private static func pump(from source: Int32, to target: Int32, _ connection: Connection, _ link: Link) {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(source, &bytes, bytes.count)
            guard count > 0, link.passes() else { break }
            var sent = 0
            while sent < count {
                let written = bytes.withUnsafeBytes {
                    send(target, $0.baseAddress.map { $0 + sent }, count - sent, Socket.withoutSignal)
                }
                guard written > 0 else { break }
                sent += written
            }
            guard sent == count else { break }
        }
        connection.end()
    }
}
