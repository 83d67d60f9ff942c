import Metrics
import Pipeline
import Synchronization

/// The work for one request.
final class ClientWork: Sendable {
    /// The work that the task belongs to; that of the first request, where several wait for one load.
    @TaskLocal static var current: ClientWork?

    /// Whether an encode has begun. Not every encoder can be stopped, so such work may end late.
    let hasBegunToEncode = Atomic<Bool>(false)
    /// Whether it has a result or an error.
    let hasEnded = Atomic<Bool>(false)
}

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
        var running: [ClientConnection.ID: Running] = [:]
        var closed: [ClientConnection.ID: Closed] = [:]
    }

    private let state = Lock(State())
    private let aborts, abortsOfEncodes: Timer
    private let loads = SerialThread(name: "loads")

    /// Times how long work takes to end after its client has gone: apart for work that had begun to encode by then.
    init(metrics: any MetricsFactory) {
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
        on connection: ClientConnection.ID, isQuick: Bool, _ work: @escaping @Sendable () async throws -> Result
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

    private func ended(_ connection: ClientConnection.ID) {
        let closed = state.withLock { state in
            state.running[connection] = nil
            return state.closed[connection]
        }
        guard let closed else { return }
        let time = ContinuousClock.now - closed.time
        (closed.wasEncoding ? abortsOfEncodes : aborts).recordNanoseconds(time.nanoseconds)
    }

    func inputClosed(_ connection: ClientConnection.ID) {
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

    func removed(_ connection: ClientConnection.ID) {
        _ = state.withLock { $0.closed.removeValue(forKey: connection) }
    }
}
