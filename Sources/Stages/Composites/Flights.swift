import PipelineHTTP
import Pipeline

/// The loads under way that others may join: a resource that ``Coalesce`` shares them through.
///
/// Give the same `Flights` to all pipelines over the same caches; then a prefetch, another size or another policy joins
/// a fetch under way instead of repeating it.
///
/// So many flights are under way at once and no more; the others wait for their turn, by priority and then in the order in
/// which they came, and hold little meanwhile. Nothing that is in memory waits, nor what joins a flight under way, nor
/// what a flight's own task loads for itself.
public final class Flights: Sendable {
    /// What is waited for.
    enum End {
        /// Everything up to a number.
        case upTo(UInt64)
        /// A ``FlightRecord/root`` and all that is part of it.
        case root(UInt64)
    }

    struct State {
        var joinable: [FlightKey: UInt64] = [:]
        var records: [UInt64: FlightRecord] = [:]
        /// The orders of the variant flights under way, by source.
        var underWay: [SourceKey: [UInt64]] = [:]
        /// Fetches that are on disk and without members, kept for loads that set out before; by source.
        var lingering: [SourceKey: [UInt64]] = [:]
        var lastNumber: UInt64 = 0
        var idleWaiters: [(end: End, continuation: CheckedContinuation<Void, Never>)] = []
        /// How many flights there are, those included that wait for a slot or that nobody waits for any more.
        var tasks = 0
        /// How many of them there are for each ``FlightRecord/root``, and refreshes.
        var roots: [UInt64: Int] = [:]
        var cancellations = 0
        var slots: FlightSlots
        /// Those whose turn has come, or never will, for ``Flights/change(_:)`` to resume.
        var turns: [(turn: FlightSlots.Turn, result: Result<FlightSlots.Slot?, any Error>)] = []
        /// When everything was last removed from the caches, and single sources, while loads were under way that had set
        /// out before.
        var allRemovedAt: UInt64 = 0
        var removedAt: [SourceKey: UInt64] = [:]
        var firstRemoval: UInt64 = .max
        /// What was taken off the books, for ``Flights/change(_:)`` to release.
        var removed: [FlightRecord] = []
        var removedEvents: [LoadEvent] = []

        init(limit: Int) { slots = FlightSlots(limit: limit) }

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        mutating func begin(_ root: UInt64) { roots[root, default: 0] += 1 }

        mutating func end(_ root: UInt64) {
            let count = (roots[root] ?? 0) - 1
            roots[root] = count > 0 ? count : nil
        }

        /// Takes out those that wait for nothing any more, and forgets removals that all loads under way know of.
        mutating func takeIdle() -> [CheckedContinuation<Void, Never>] {
            guard !idleWaiters.isEmpty || !removedAt.isEmpty else { return [] }
            let oldest = roots.keys.min() ?? .max
            if firstRemoval < oldest {
                removedAt = removedAt.filter { $0.value > oldest }
                firstRemoval = removedAt.values.min() ?? .max
            }
            let over = idleWaiters.map { waiter in
                switch waiter.end {
                case .upTo(let last): last < oldest
                case .root(let root): roots[root] == nil
                }
            }
            let idle = zip(idleWaiters, over).filter(\.1).map(\.0.continuation)
            idleWaiters = zip(idleWaiters, over).filter { !$0.1 }.map(\.0)
            return idle
        }

        /// Assigns free slots.
        mutating func assignSlots() {
            while let (turn, slot) = slots.next() { turns.append((turn, .success(slot))) }
        }
    }

    typealias Joined = (other: Bool, right: WriteRight?)

    let state: Lock<State>
    /// What is refreshed beside an answer that was given stale.
    let refreshes: BackgroundTasks

    /// Where flights run; `nil` for Swift's own threads.
    package let executor: (any TaskExecutor)?

    /// No load is under way.
    /// - Parameter maximumConcurrent: how many flights are under way at once; 1,024 by default. Each takes some 50 KB
    ///   beside what it loads; a load that waits for its turn takes about 8 KB. An origin that does not answer keeps the
    ///   slots of its flights until they time out: who loads from many such needs more. A stage may load through the same
    ///   flights, also in child tasks: such loads need no slot. A load in a detached task does, so a stage that waits for
    ///   one can wait forever if all slots are taken by such stages. A `Task { }` that a stage begins is part of its flight
    ///   until the flight has ended: its loads need no slot and have the flight's priority. Detach what is independent.
    public convenience init(maximumConcurrent: Int = 1024) {
        self.init(executor: nil, maximumConcurrent: maximumConcurrent)
    }

    /// No load is under way; those to come run on `executor`.
    package init(executor: (any TaskExecutor)?, maximumConcurrent: Int = 1024) {
        state = Lock(State(limit: maximumConcurrent))
        self.executor = executor
        refreshes = BackgroundTasks(executor: executor)
    }

    /// Runs `body` with exclusive access to the state, then assigns slots that have become free. What `body` takes off the
    /// books is released after the lock: a user's attachment or error may come back here when it is released.
    func change<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, turns, _) = state.withLock { state in
            let value = body(&state)
            state.assignSlots()
            let (turns, removed) = (state.turns, (state.removed, state.removedEvents))
            (state.turns, state.removed, state.removedEvents) = ([], [], [])
            return (value, turns, removed)
        }
        for (turn, result) in turns { turn.resume(with: result) }
        return value
    }

    /// How many flights are under way or wait for their turn.
    public var count: Int { state.withLock { $0.tasks } }

    /// How many of them wait for their turn.
    public var waiting: Int { state.withLock { $0.slots.line.count } }

    /// How often every flight was cancelled.
    var cancellations: Int { state.withLock { $0.cancellations } }

    /// Waits until the flights that are under way now, or wait for their turn, have ended, those included that nobody waits
    /// for any more; and what is refreshed in the background. Loads that begin later are not waited for.
    public func drain() async {
        await waitForEnd { .upTo($0.lastNumber) }
        await refreshes.drain()
    }

    /// Waits until a refresh has ended with all that it began, also what nobody waits for any more.
    func ended(_ root: UInt64) async { await waitForEnd { _ in .root(root) } }

    private func waitForEnd(_ end: (State) -> End) async {
        await withCheckedContinuation { continuation in
            let idle = change { state in
                state.idleWaiters.append((end(state), continuation))
                return state.takeIdle()
            }
            for waiter in idle { waiter.resume() }
        }
    }

    /// Cancels every flight: its waiters throw `CancellationError`. Returns when the work of those flights has ended.
    /// Loads that begin later are neither cancelled nor waited for.
    public func cancelAll() async {
        let (tasks, waiters) = change { state in
            state.cancellations += 1
            let tasks = state.records.values.compactMap { $0.landing == nil ? $0.task : nil }
            var waiters: [Boarding] = []
            for flight in state.records.keys.sorted() {
                waiters += state.records[flight]?.dismissAll() ?? []
                state.forget(flight)
            }
            return (tasks, waiters)
        }
        for task in tasks { task.cancel() }
        refreshes.cancel()
        for waiter in waiters { waiter.cancel() }
        await drain()
    }

    /// Starts a flight's task, which waits for its turn before it begins the work.
    func start(_ boarding: Boarding, _ load: Load, _ body: Chain) {
        let task = Task(executorPreference: executor, priority: boarding.priority.value.taskPriority) {
            let slot = try? await boarding.turn.value()
            await CurrentFlight.$root.withValue(boarding.root) {
                await AdjustablePriority.$inherited.withValue(boarding.priority) {
                    await self.fly(boarding.flight, load, body)
                }
            }
            boarding.priority.end()
            self.endWork(boarding.root) { state in
                state.tasks -= 1
                if let slot { state.slots.release(slot) }
            }
        }
        let abandoned = change { state in
            state.records[boarding.flight]?.task = task
            return state.records[boarding.flight] == nil
        }
        if abandoned { task.cancel() }
    }

    private func fly(_ flight: UInt64, _ load: Load, _ body: Chain) async {
        guard let order = beginWork(of: flight, load) else { return }
        var fork = load.forked { self.broadcast($0, flight) }
        fork.showsImages = { self.showsImages(flight) }
        if load.attachment(FlightOrder.self) == nil { fork.attach(FlightOrder(number: order, flights: self)) }
        do {
            try await body.run(&fork)
            land(flight, Landing(fork))
        } catch {
            land(flight, Landing(fork, error: error))
        }
    }

    /// The order of a flight whose work begins now; `nil` if nobody waits for it any more.
    private func beginWork(of flight: UInt64, _ load: Load) -> UInt64? {
        change { state in
            guard let key = state.records[flight]?.key else { return nil }
            let order = load.attachment(FlightOrder.self)?.number ?? state.number()
            state.records[flight]?.order = order
            if case .variant(let variant, _, _) = key { state.underWay[variant.source, default: []].append(order) }
            return order
        }
    }

    /// Counts off work that has ended, and resumes those that waited for the end of it.
    func endWork(_ root: UInt64, _ body: (inout State) -> Void = { _ in }) {
        let idle = change { state in
            state.end(root)
            body(&state)
            return state.takeIdle()
        }
        for waiter in idle { waiter.resume() }
    }

    /// Whether any load that waits for a flight shows images as they come.
    private func showsImages(_ flight: UInt64) -> Bool {
        // Asked outside the lock: a flight inside another asks for its own waiters, which takes the lock again.
        let waiting = state.withLock { $0.records[flight]?.waiters.values.compactMap(\.boarding.showsImages) ?? [] }
        return waiting.contains { $0() }
    }

    private func broadcast(_ event: LoadEvent, _ flight: UInt64) {
        let relays = change { state -> [EventRelay] in
            if let replaced = state.records[flight]?.remember(event) { state.removedEvents.append(replaced) }
            let waiters = state.records[flight]?.waiters.sorted { $0.key < $1.key } ?? []
            let relays = waiters.compactMap(\.value.boarding.relay)
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
