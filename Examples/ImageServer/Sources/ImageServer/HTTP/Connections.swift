import Hummingbird
import Metrics
import NIOCore
import Stages
import Synchronization

/// The connections with a request in work, so that a client that goes away cancels it.
///
/// A client that only closes its sending side counts as gone: a browser that gives up a request looks the same.
final class Connections: Sendable {
    private struct Running {
        let work: ClientWork
        let cancel: @Sendable () -> Void
    }

    private struct Closed {
        let time = ContinuousClock.now
        let wasEncoding: Bool
    }

    private struct State {
        var running: [ObjectIdentifier: Running] = [:]
        var closed: [ObjectIdentifier: Closed] = [:]
    }

    private let state = Mutex(State())
    private let aborts, abortsOfEncodes: Timer
    private let loads = SerialTaskExecutor(name: "loads")

    /// Times how long work takes to end after its client has gone: apart for work that had begun to encode by then.
    init(metrics: PrometheusMetrics) {
        func timer(_ encoding: String) -> Timer {
            Timer(label: "http_abort_seconds", dimensions: [("encoding", encoding)], factory: metrics)
        }
        (aborts, abortsOfEncodes) = (timer("no"), timer("begun"))
    }

    /// Runs a request's work in a task that is cancelled when the client disconnects.
    /// - Parameter isQuick: Whether the work most likely ends without waiting, as a hit in memory does. Other work stays
    ///   off the threads that all requests share, so that cache hits never wait behind loads.
    /// - Throws: What the work throws.
    func run<Result: Sendable>(
        on channel: any Channel, isQuick: Bool, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let running = ClientWork()
        let operation = { @Sendable in
            defer { running.hasEnded.store(true, ordering: .releasing) }
            return try await ClientWork.$current.withValue(running, operation: work)
        }
        // Work that suspends nowhere ends on this thread, before the next line.
        let task =
            isQuick
            ? Task.immediate { try await operation() } : Task(executorPreference: loads) { try await operation() }
        if running.hasEnded.load(ordering: .acquiring) { return try await task.value }
        let connection = ObjectIdentifier(channel)
        let isClosed = state.withLock { state in
            state.running[connection] = Running(work: running) { task.cancel() }
            return state.closed[connection] != nil
        }
        defer { ended(connection) }
        // A client that has only closed its sending side gets what is at hand.
        if isClosed, !isQuick { task.cancel() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func ended(_ connection: ObjectIdentifier) {
        let closed = state.withLock { state in
            state.running[connection] = nil
            return state.closed[connection]
        }
        guard let closed else { return }
        let time = ContinuousClock.now - closed.time
        (closed.wasEncoding ? abortsOfEncodes : aborts).recordNanoseconds(time.nanoseconds)
    }

    fileprivate func inputClosed(_ channel: any Channel) {
        let connection = ObjectIdentifier(channel)
        let running = state.withLock { state in
            let running = state.running[connection]
            if state.closed[connection] == nil {
                let wasEncoding = running?.work.hasBegunToEncode.load(ordering: .relaxed) ?? false
                state.closed[connection] = Closed(wasEncoding: wasEncoding)
            }
            return running
        }
        running?.cancel()
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
