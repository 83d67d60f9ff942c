import LibC

/// A bounded number of threads of our own for work that blocks: libvips, libwebp, SQLite, files.
///
/// Such work never runs on Swift's cooperative threads, where one decode would stall every other task of a server, nor
/// on the caller's. Queued work runs in priority order, then first in, first out. Work below normal priority leaves one
/// thread free, so that work that a user waits for starts at once. Threads start when they are first needed and stay.
public final class BlockingThreads: Sendable {
    /// How many threads there can be.
    public let count: Int

    private struct State {
        var line = PriorityLine<WorkItem>()
        var threads = 0
        var idle = 0
        var stopped = false
        var givesWay = false
        let limit: Int
        /// How many threads do work below normal priority, and how many may.
        var modest = 0
        let modestLimit: Int

        init(limit: Int) {
            self.limit = limit
            modestLimit = max(1, limit - 1)
        }

        /// Whether another thread has to start for queued work. If so, it is counted as started.
        ///
        /// A thread that was woken counts as idle until it takes its work, which counts as queued until then. So there
        /// are enough threads if no more work is queued than threads are idle.
        mutating func needsThread() -> Bool {
            let leisurely = line.count(.veryLow) + line.count(.low)
            let runnable = line.count - leisurely + min(leisurely, max(0, modestLimit - modest))
            guard runnable > idle, threads < limit else { return false }
            threads += 1
            return true
        }

        /// The next work that a thread may start.
        mutating func next() -> Next? {
            guard let (item, place) = line.first else { return nil }
            let isModest = place.priority < .normal
            if isModest {
                guard modest < modestLimit else { return nil }
                modest += 1
            }
            line.remove(item)
            return Next(item: item, isModest: isModest, givesWay: givesWay)
        }
    }

    private struct Next {
        let item: WorkItem
        let isModest: Bool
        let givesWay: Bool
    }

    private let name: String
    private let state: Monitor<State>
    private let threadWillEnd: (@Sendable () -> Void)?

    /// Makes a pool, whose threads start later.
    /// - Parameters:
    ///   - name: the threads' name in debuggers and `top`; at most 15 bytes.
    ///   - count: how many there can be; by default one for each core.
    ///   - threadWillEnd: called on each thread before it ends, for libraries that keep data for each thread.
    public init(name: String, count: Int? = nil, threadWillEnd: (@Sendable () -> Void)? = nil) {
        self.name = name
        self.count = max(1, count ?? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        self.threadWillEnd = threadWillEnd
        state = Monitor(State(limit: self.count))
    }

    deinit { stop() }

    /// Lets the threads end once no work is queued. Later calls of `run` throw `CancellationError`.
    public func stop() { state.withLock(wake: .all) { $0.stopped = true } }

    /// Lets the threads give way to the program's others from now on: where there are more than processors, each gets a
    /// smaller share (nice(1) plus 7), as far as the system allows.
    ///
    /// It is for servers, whose responses from memory shouldn't wait behind decodes. It can't be taken back.
    public func giveWay() { state.withLock { $0.givesWay = true } }

    /// The number of queued pieces of work.
    package var waiting: Int { state.withLock { $0.line.count } }

    /// Runs work on one of the threads and waits for it without blocking.
    ///
    /// When this returns, the work is over. If the task is cancelled while the work is queued, this throws at once and
    /// the work never starts. If the work is running, its ``WorkCancellation`` is cancelled, and it has to stop itself.
    ///
    /// Inside a load, `priority` is only the initial priority: queued work follows the load's.
    /// - Throws: any error of the work; `CancellationError` if the task is cancelled before the work starts;
    ///   `LoadError.Code.refused` if no thread runs and the system refuses to start one.
    public func run<Value: Sendable>(
        priority: LoadPriority = .normal, _ work: @escaping @Sendable (WorkCancellation) throws -> Value
    ) async throws -> Value {
        try await run(priority: priority, isLeft: false, work)
    }

    /// Does the same for work that can't always stop soon.
    /// - Parameter isLeft: whether this throws at once if the task is cancelled, even if the work has started. The work
    ///   then keeps its thread and its resources until it ends, and its result is dropped.
    package func run<Value: Sendable>(
        priority: LoadPriority, isLeft: Bool, _ work: @escaping @Sendable (WorkCancellation) throws -> Value
    ) async throws -> Value {
        let (waiter, cancellation) = (Waiter<Value>(), WorkCancellation())
        let item = WorkItem {
            waiter.resume(with: Result { try work(cancellation) })
        } refuse: {
            waiter.resume(with: .failure($0))
        }
        return try await waiter.wait(priority: priority) {
            enqueue(item, $0)
        } move: {
            self.move(item, to: $0)
        } leave: {
            cancellation.cancel()
            if remove(item) || isLeft { item.refuse(CancellationError()) }
        }
    }

    func enqueue(_ item: WorkItem, _ priority: LoadPriority) {
        // The age of the load rather than of this step, so that few images wait half done.
        let number = AdjustablePriority.current?.number ?? AdjustablePriority.nextNumber()
        let (refused, starts) = state.withLock(wake: .one) { state -> (Bool, Bool) in
            guard !state.stopped else { return (true, false) }
            state.line.enqueue(item, priority, number: number)
            return (false, state.needsThread())
        }
        if refused { item.refuse(CancellationError()) }
        if starts { startThread() }
    }

    private func move(_ item: WorkItem, to priority: LoadPriority) {
        // The thread that low priorities leave free may be idle.
        let starts = state.withLock(wake: .one) { state in
            state.line.move(item, to: priority)
            return state.needsThread()
        }
        if starts { startThread() }
    }

    /// Removes queued work; returns false if it has started or was refused.
    func remove(_ item: WorkItem) -> Bool { state.withLock { $0.line.remove(item) } }

    private func startThread() {
        let state = state
        let threadWillEnd = threadWillEnd
        do {
            try Thread.start(name: name) {
                var hasGivenWay = false
                while let next = Self.next(state) {
                    if next.givesWay, !hasGivenWay {
                        Thread.giveWay()
                        hasGivenWay = true
                    }
                    next.item.run()
                    // This thread looks for its next work at once, so no other has to be woken.
                    if next.isModest { state.withLock { $0.modest -= 1 } }
                }
                threadWillEnd?()
            }
        } catch {
            refuseWaiting(error)
        }
    }

    /// Handles a thread that didn't start. If others run, they do its work later; if none does, queued work is refused.
    private func refuseWaiting(_ refusal: Thread.Refusal) {
        let refused = state.withLock { state -> [WorkItem] in
            state.threads -= 1
            guard state.threads == 0 else { return [] }
            return state.line.removeAll()
        }
        for item in refused { item.refuse(refusal.error()) }
    }

    private static func next(_ state: Monitor<State>) -> Next? {
        state.wait { state in
            if let next = state.next() { return .some(next) }
            return state.stopped ? .some(nil) : nil
        } whileIdle: {
            $0.idle += $1
        }
    }
}

/// Work that is queued for a thread.
final class WorkItem: Sendable {
    /// Does the work.
    let run: @Sendable () -> Void
    /// Called instead if no thread will do the work.
    let refuse: @Sendable (any Error) -> Void

    init(run: @escaping @Sendable () -> Void, refuse: @escaping @Sendable (any Error) -> Void) {
        self.run = run
        self.refuse = refuse
    }
}
