import FoundationEssentials
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// Runs a server on 127.0.0.1 that replies to one request for each connection by calling `reply`, which may send as fast
/// as the client receives, and calls `body` with its port.
func withServer(
    tls: NIOSSLContext? = nil,
    reply: @escaping @Sendable (_ send: (ByteBuffer) async throws -> Void) async throws -> Void,
    _ body: (Int) async throws -> Void
) async throws {
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .bind(host: "127.0.0.1", port: 0) { channel in
            channel.eventLoop.makeCompletedFuture {
                if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
    let serving = Task {
        try await server.executeThenClose { connections in
            await withTaskGroup { group in
                do {
                    for try await connection in connections {
                        group.addTask {
                            try? await connection.executeThenClose { requests, output in
                                var requests = requests.makeAsyncIterator()
                                _ = try await requests.next()
                                try await reply { try await output.write($0) }
                                // A channel that is closed at once drops bytes that it hasn't sent yet.
                                while try await requests.next() != nil {}
                            }
                        }
                    }
                } catch {}
                group.cancelAll()
            }
        }
    }
    defer { serving.cancel() }
    try await body(server.channel.localAddress?.port ?? 0)
}
