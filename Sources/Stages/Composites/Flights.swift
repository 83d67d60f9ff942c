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
        var cancellations = 0

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    let state = Lock(State())
    /// What is refreshed beside an answer that was given stale.
    let refreshes: BackgroundTasks

    /// Where flights run; `nil` for Swift's own threads.
    package let executor: (any TaskExecutor)?

    /// No load is under way.
    public convenience init() { self.init(executor: nil) }

    /// No load is under way; those to come run on `executor`.
    package init(executor: (any TaskExecutor)?) {
        self.executor = executor
        refreshes = BackgroundTasks(executor: executor)
    }

    /// How many flights are under way.
    public var count: Int { state.withLock { $0.tasks } }

    /// How often every flight was cancelled.
    var cancellations: Int { state.withLock { $0.cancellations } }

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
            state.cancellations += 1
            let tasks = state.records.values.compactMap { $0.landing == nil ? $0.task : nil }
            var waiting: [CheckedContinuation<Landing, any Error>] = []
            for flight in state.records.keys.sorted() {
                waiting += state.records[flight]?.dismissAll().compactMap(\.continuation) ?? []
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
        if boarding.starts { start(boarding, load, body) } else { follow(boarding.flight) }
        boarding.relay?.deliver()
        var landing = try await AdjustablePriority.following {
            self.prioritize(boarding, $0)
        } _: {
            // What it was set to between boarding and here.
            if let priority = AdjustablePriority.current?.value { prioritize(boarding, priority) }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { wait(boarding, $0) }
            } onCancel: {
                leave(boarding)
            }
        }
        // Made here, so that this load alone holds it: were it to linger where the answer was handed out, a load that
        // begins again would join the flight that it has just given up.
        if key.isFetch, landing.error == nil { landing.ticket = SourceTicket(self, flight: boarding.flight) }
        return landing
    }

    private func start(_ boarding: Boarding, _ load: Load, _ body: Chain) {
        let task = Task(executorPreference: executor, priority: boarding.priority.value.taskPriority) {
            await AdjustablePriority.$current.withValue(boarding.priority) {
                await self.fly(boarding.flight, order: boarding.order, load, body)
            }
            self.taskEnded()
        }
        let abandoned = state.withLock { state in
            state.records[boarding.flight]?.task = task
            return state.records[boarding.flight] == nil
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
            let waiters = state.records[flight]?.waiters.sorted { $0.key < $1.key } ?? []
            let relays = waiters.compactMap(\.value.relay)
            for relay in relays { relay.enqueue([event]) }
            return relays
        }
        for relay in relays { relay.deliver() }
    }
}

extension LoadPriority {
    /// What Swift's scheduler knows it by.
    var taskPriority: TaskPriority {
        switch self {
        case .veryLow: .background
        case .low: .low
        case .normal: .medium
        case .high, .veryHigh: .high
        }
    }
}
