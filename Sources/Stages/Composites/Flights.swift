import Pipeline

/// The loads under way that others may join: a resource that ``Coalesce`` shares them through.
///
/// Give the same `Flights` to all pipelines over the same caches; then a prefetch, another size or another policy joins
/// a fetch under way instead of repeating it.
public final class Flights: Sendable {
    struct State {
        var joinable: [FlightKey: UInt64] = [:]
        var records: [UInt64: FlightRecord] = [:]
        /// The orders of the variant flights under way, by source.
        var underWay: [SourceKey: [UInt64]] = [:]
        /// Fetches that are on disk and without members, kept for loads that set out before; by source.
        var lingering: [SourceKey: [UInt64]] = [:]
        var lastNumber: UInt64 = 0
        var idleWaiters: [CheckedContinuation<Void, Never>] = []
        var tasks = 0

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    let state = Lock(State())
    /// What is refreshed beside an answer that was given stale.
    let refreshes = BackgroundTasks()

    /// No load is under way.
    public init() {}

    /// How many flights are under way.
    public var count: Int { state.withLock { $0.tasks } }

    /// Waits until no flight is under way, those included that nobody waits for any more, and nothing is refreshed in
    /// the background.
    public func drain() async {
        await idle()
        await refreshes.drain()
        // What refreshes flies as well.
        await idle()
    }

    private func idle() async {
        await withCheckedContinuation { continuation in
            let idle = state.withLock { state in
                if state.tasks > 0 { state.idleWaiters.append(continuation) }
                return state.tasks == 0
            }
            if idle { continuation.resume() }
        }
    }

    /// Cancels every flight: who waits gets `CancellationError`. Returns when all work has ended.
    public func cancelAll() async {
        let (tasks, waiting) = state.withLock { state in
            let tasks = state.records.values.compactMap { $0.landing == nil ? $0.task : nil }
            let waiting = state.records.values.flatMap { $0.waiters.values.compactMap(\.continuation) }
            for flight in Array(state.records.keys) {
                state.records[flight]?.waiters = [:]
                state.forget(flight)
            }
            return (tasks, waiting)
        }
        for task in tasks { task.cancel() }
        refreshes.cancel()
        for continuation in waiting { continuation.resume(throwing: CancellationError()) }
        await drain()
    }

    /// Joins the flight for a key, or starts one that runs `body` on a fork of `load`, and waits for it.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func join(_ key: FlightKey, load: Load, body: Chain) async throws -> Landing {
        let boarding = board(key, load)
        if boarding.starts { start(boarding.flight, order: boarding.order, load, body) }
        boarding.relay?.deliver()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait(boarding, $0) }
        } onCancel: {
            leave(boarding)
        }
    }

    private func start(_ flight: UInt64, order: UInt64, _ load: Load, _ body: Chain) {
        let task = Task(priority: load.priority.taskPriority) {
            await self.fly(flight, order: order, load, body)
            self.taskEnded()
        }
        let abandoned = state.withLock { state in
            state.records[flight]?.task = task
            return state.records[flight] == nil
        }
        if abandoned { task.cancel() }
    }

    private func fly(_ flight: UInt64, order: UInt64, _ load: Load, _ body: Chain) async {
        var fork = load.forked { self.broadcast($0, flight) }
        if load.attachment(FlightOrder.self) == nil { fork.attach(FlightOrder(number: order)) }
        do {
            try await body.run(&fork)
            land(flight, Landing(load: fork, error: nil))
        } catch {
            land(flight, Landing(load: fork, error: error))
        }
    }

    private func taskEnded() {
        let waiters = state.withLock { state in
            state.tasks -= 1
            guard state.tasks == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.idleWaiters = [] }
            return state.idleWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func broadcast(_ event: LoadEvent, _ flight: UInt64) {
        let relays = state.withLock { state -> [EventRelay] in
            state.records[flight]?.remember(event)
            let relays = state.records[flight]?.waiters.values.compactMap(\.relay) ?? []
            for relay in relays { relay.enqueue([event]) }
            return relays
        }
        for relay in relays { relay.deliver() }
    }
}

extension LoadPriority {
    fileprivate var taskPriority: TaskPriority {
        switch self {
        case .veryLow: .background
        case .low: .low
        case .normal: .medium
        case .high, .veryHigh: .high
        }
    }
}
