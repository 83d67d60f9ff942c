import PipelineHTTP
import Pipeline

/// The loads in flight that other loads can join. ``Coalesce`` shares loads through this resource.
///
/// Give the same `Flights` to all pipelines over the same caches; then a prefetch, another size or another policy joins
/// a fetch under way instead of repeating it.
///
/// A limited number of flights run concurrently. Others wait in priority order, then first in, first out, and hold little
/// memory meanwhile. Loads that find their image in memory, join a flight or begin inside one need no slot.
public final class Flights: Sendable {
    /// The work whose end a caller waits for.
    enum End {
        /// Everything that began up to a number.
        case upTo(UInt64)
        /// A ``FlightRecord/root`` and all that is part of it.
        case root(UInt64)
    }

    struct State {
        var joinable: [FlightKey: UInt64] = [:]
        var records: [UInt64: FlightRecord] = [:]
        /// The orders of the variant flights under way, by source.
        var underWay: [SourceKey: [UInt64]] = [:]
        /// Stored fetches without members, by source, kept for loads that began before they were stored.
        var lingering: [SourceKey: [UInt64]] = [:]
        var lastNumber: UInt64 = 0
        var idleWaiters: [(end: End, continuation: CheckedContinuation<Void, Never>)] = []
        /// The number of flights, including those that wait for a slot or have no waiters any more.
        var tasks = 0
        /// The number of flights and refreshes under each ``FlightRecord/root``.
        var roots: [UInt64: Int] = [:]
        var cancellations = 0
        var slots: FlightSlots
        /// Flights whose turn has come or never will. ``Flights/change(_:)`` resumes them.
        var turns: [(turn: FlightSlots.Turn, result: Result<FlightSlots.Slot?, any Error>)] = []
        /// When everything, and when single sources, were last removed from the caches while earlier loads ran.
        var allRemovedAt: UInt64 = 0
        var removedAt: [SourceKey: UInt64] = [:]
        var firstRemoval: UInt64 = .max
        /// Forgotten flights and replaced events. ``Flights/change(_:)`` releases them.
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

        /// Takes out the callers whose wait is over, and forgets removals that are older than all running loads. No refresh
        /// that waits is older than a removal.
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
    /// The background refreshes of responses that were served stale.
    let refreshes: BackgroundTasks

    /// Where flights run; `nil` for Swift's own threads.
    package let executor: (any TaskExecutor)?

    /// Makes flights that several pipelines can share.
    /// - Parameter maximumConcurrent: The number of flights that run concurrently; 1,024 by default. Each takes about
    ///   50 KB in addition to its image; a load that waits for a slot takes about 12 KB. An origin that doesn't respond
    ///   keeps the slots of its flights until they time out, so programs that load from many such origins need more
    ///   slots. A stage may load through the same flights, also in child tasks: such loads need no slot. A load in a
    ///   detached task needs one, so a stage that waits for it can wait forever if such stages hold all slots. A
    ///   `Task { }` that a stage begins is part of its flight until the flight has ended: its loads need no slot and
    ///   have the flight's priority. Detach independent work.
    public convenience init(maximumConcurrent: Int = 1024) {
        self.init(executor: nil, maximumConcurrent: maximumConcurrent)
    }

    /// Makes flights that run on `executor`.
    package init(executor: (any TaskExecutor)?, maximumConcurrent: Int = 1024) {
        state = Lock(State(limit: maximumConcurrent))
        self.executor = executor
        refreshes = BackgroundTasks(executor: executor)
    }

    /// Runs `body` with exclusive access to the state, then assigns slots that have become free. Forgotten flights are
    /// released after the lock, since the `deinit` of a user's attachment or error may call these flights.
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

    /// The number of flights that run or wait for a slot.
    public var count: Int { state.withLock { $0.tasks } }

    /// The number of flights that wait for a slot.
    public var waiting: Int { state.withLock { $0.slots.line.count } }

    /// Whether a load of a source runs, of any size, for which somebody waits.
    func isUnderWay(_ source: SourceKey) -> Bool { state.withLock { $0.underWay[source] != nil } }

    /// How often all flights were cancelled at once.
    var cancellations: Int { state.withLock { $0.cancellations } }

    /// Waits until the present flights have ended, including those that wait for a slot or have no waiters any more, and
    /// until the present background refreshes have ended. Doesn't wait for loads that begin later.
    public func drain() async {
        await waitForEnd { .upTo($0.lastNumber) }
        await refreshes.drain()
    }

    /// Waits until a refresh and everything that it began have ended, including work without waiters.
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
            let tasks = state.records.values.compactMap { $0.result == nil ? $0.task : nil }
            var waiters: [FlightWaiter] = []
            for flight in state.records.keys.sorted() {
                waiters += state.records[flight]?.removeAll() ?? []
                state.forget(flight)
            }
            return (tasks, waiters)
        }
        for task in tasks { task.cancel() }
        refreshes.cancel()
        for waiter in waiters { waiter.cancel() }
        await drain()
    }
}
