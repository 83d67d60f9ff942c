import Hummingbird
import Metrics
import NIOCore
import Stages
import Synchronization

/// The connections with a request in work, so that a client that goes away cancels it.
///
/// A client that only closes its sending side counts as gone: a browser that gives up a request looks the same.
final class Connections: Sendable {
    private struct State {
        var works: [ObjectIdentifier: @Sendable () -> Void] = [:]
        var closed: [ObjectIdentifier: ContinuousClock.Instant] = [:]
    }

    private let state = Mutex(State())
    private let aborts: Timer

    /// Times how long work takes to end after its client has gone.
    init(metrics: PrometheusMetrics) { aborts = Timer(label: "http_abort_seconds", factory: metrics) }

    /// Runs a request's work in a task that is cancelled when the client goes away.
    /// - Throws: What the work throws.
    func run<Result: Sendable>(
        on channel: any Channel, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        // A hit in memory suspends nowhere, so it ends on this thread, before the next line.
        let task = Task.immediate { try await work() }
        let connection = ObjectIdentifier(channel)
        let isClosed = state.withLock { state in
            state.works[connection] = { task.cancel() }
            return state.closed[connection] != nil
        }
        defer { ended(connection) }
        if isClosed { task.cancel() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func ended(_ connection: ObjectIdentifier) {
        let closed = state.withLock { state in
            state.works[connection] = nil
            return state.closed[connection]
        }
        guard let time = closed.map({ ContinuousClock.now - $0 })?.components else { return }
        aborts.recordNanoseconds(time.seconds * 1_000_000_000 + time.attoseconds / 1_000_000_000)
    }

    fileprivate func inputClosed(_ channel: any Channel) {
        let connection = ObjectIdentifier(channel)
        let work = state.withLock { state in
            if state.closed[connection] == nil { state.closed[connection] = .now }
            return state.works[connection]
        }
        work?()
    }

    fileprivate func removed(_ channel: any Channel) {
        _ = state.withLock { $0.closed.removeValue(forKey: ObjectIdentifier(channel)) }
    }
}

/// Notices that a client has closed its connection, or its sending side.
final class ClientGone: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private let connections: Connections

    init(_ connections: Connections) { self.connections = connections }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { connections.inputClosed(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        connections.inputClosed(context.channel)
        connections.removed(context.channel)
        context.fireChannelInactive()
    }
}

/// What a request brings along: its connection.
struct ClientContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: Source) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
