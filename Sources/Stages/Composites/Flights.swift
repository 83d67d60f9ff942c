import PipelineHTTP
import Pipeline

/// The loads in flight that other loads can join. ``Coalesce`` shares loads through this resource.
///
/// Give the same `Flights` to all pipelines over the same caches; then a prefetch, another size or another policy joins
/// a fetch under way instead of repeating it.
///
/// A limited number of flights run concurrently. Others wait in priority order, then first in, first out, and hold little
/// memory meanwhile. Loads that find their image in memory, join a flight or begin inside one need no slot.
public final class Flights: RemovalListener {
    /// One lock for both parts, since a load joins running work or a fetch that has ended in one step.
    struct State {
        var work: SharedWork
        var writes = WriteOrder()
        var cancellations = 0

        /// Notes that the body of work begins, and returns when its load began; `nil` if nobody waits for it any more.
        mutating func beginBody(of number: UInt64, _ load: Load) -> UInt64? {
            guard let handle = work.works[number]?.handle else { return nil }
            let began = load.attachment(LoadStart.self)?.number ?? work.nextNumber()
            guard !handle.key.isFetch else { return began }
            work.works[number]?.began = began
            writes.begin(handle.key.source, at: began)
            return began
        }

        /// Removes work that is over, or that nobody waits for.
        @discardableResult
        mutating func remove(_ number: UInt64, cancels: Bool) -> SharedWork.Work? {
            let removed = work.remove(number, cancels: cancels)
            if let removed, let began = removed.began { writes.end(removed.handle.key.source, began: began) }
            return removed
        }

        /// Notes that a task or a refresh has ended inside an outermost work.
        mutating func exit(_ outermost: UInt64) {
            work.exit(outermost)
            resumeIdle()
        }

        mutating func resumeIdle() {
            guard !work.idleWaiters.isEmpty || writes.hasRemovals else { return }
            let oldest = work.oldest
            writes.forgetRemovals(before: oldest)
            work.resumeIdle(oldest: oldest)
        }
    }

    let state: Lock<State>
    /// The background refreshes of responses that were served stale.
    let refreshes: BackgroundTasks

    /// Where flights run; `nil` for Swift's own threads.
    package let executor: (any TaskExecutor)?

    /// Makes flights that several pipelines can share.
    /// - Parameter maximumConcurrent: The number of flights that run concurrently; 1,024 by default. Each takes about
    ///   50 KB in addition to its image; a load that waits for a slot takes about 9 KB. An origin that doesn't respond
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
        state = Lock(State(work: SharedWork(limit: maximumConcurrent)))
        self.executor = executor
        refreshes = BackgroundTasks(executor: executor)
    }

    /// Runs `body` with exclusive access to the state, then carries out the actions that it leaves.
    @discardableResult
    func change<Value>(_ body: (inout State) -> Value) -> Value {
        // The forgotten fetches are released after the lock, since the `deinit` of a user's value may come back here.
        let (value, actions, _) = state.withLock { state in
            let value = body(&state)
            return (value, state.work.takeActions(), state.writes.takeForgotten())
        }
        actions.carryOut()
        return value
    }

    /// The number of flights that run or wait for a slot.
    public var count: Int { state.withLock { $0.work.tasks } }

    /// The number of flights that wait for a slot.
    public var waiting: Int { state.withLock { $0.work.line.count } }

    /// Whether a load of a source runs, of any size, for which somebody waits.
    func isUnderWay(_ source: SourceKey) -> Bool { state.withLock { $0.writes.loads[source] != nil } }

    /// How often all flights were cancelled at once.
    var cancellations: Int { state.withLock { $0.cancellations } }

    /// Waits until the present flights have ended, including those that wait for a slot or have no waiters any more, and
    /// until the present background refreshes have ended. Doesn't wait for loads that begin later.
    public func drain() async {
        let last = state.withLock { $0.work.lastNumber }
        await waitForEnd { last < $1 }
        await refreshes.drain()
    }

    private func waitForEnd(_ isOver: @escaping SharedWork.IsOver) async {
        await withCheckedContinuation { continuation in
            change { state in
                state.work.idleWaiters.append((isOver, continuation))
                state.resumeIdle()
            }
        }
    }

    /// Cancels every flight: its waiters throw `CancellationError`. Returns when the work of those flights has ended.
    /// Loads that begin later are neither cancelled nor waited for.
    public func cancelAll() async {
        let waiters = change { state in
            state.cancellations += 1
            let works = state.work.works.keys.sorted().compactMap { state.remove($0, cancels: true) }
            state.writes.forgetAll()
            return works.flatMap(\.inOrder)
        }
        refreshes.cancel()
        for waiter in waiters { waiter.cancel() }
        await drain()
    }

    /// Refreshes a stored response in the background, unless a refresh of it is under way. It has ended when everything
    /// that it began has, including work without waiters.
    func refresh(_ generation: Int64, _ work: @escaping @Sendable () async -> Void) {
        refreshes.start(generation) {
            let number = self.change { state in
                let number = state.work.nextNumber()
                state.work.enter(number)
                return number
            }
            await work()
            self.change { $0.exit(number) }
            await self.waitForEnd { running, _ in running[number] == nil }
        }
    }

    /// Lets no later load join one under way whose response may have become invalid: those of a URL, or all for a tag, since
    /// the tags of a response are known only when it is there. The caches don't store such a response.
    package func removed(_ target: String) {
        change { state in
            let isTag = ResponseTags.isTag(target)
            let isMeant = { (handle: WorkHandle) in isTag || handle.target == target }
            // A load that was redirected to the URL waits for the fetch inside it.
            let outermost = state.work.withdraw(where: isMeant).union(state.writes.withdraw(where: isMeant))
            if !outermost.isEmpty { state.work.withdraw { outermost.contains($0.number) } }
        }
    }

    /// Notes that a source is being removed, or everything if that is `nil`. Loads that have begun by now don't store it,
    /// and later ones don't join them.
    ///
    /// Waiting refreshes are dropped: they aren't loads under way, so the removal could be forgotten before they begin and
    /// store its source again. The next load of a stale response asks for its refresh again.
    func noteRemoval(of source: SourceKey?) {
        refreshes.dropWaiting()
        change { state in
            state.work.withdraw { source == nil || $0.concerns(source) }
            state.writes.withdraw { source == nil || $0.concerns(source) }
            // Without loads under way, nothing could store it.
            if source == nil || state.work.isRunning(nil) { state.writes.remove(source, at: state.work.nextNumber()) }
        }
    }
}
