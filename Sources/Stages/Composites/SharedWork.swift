import Pipeline

/// The work in progress that loads share, and the loads that wait for each piece of it.
///
/// A load joins the work for its key or begins it, waits, and gets the result; or it leaves. Work has the highest
/// priority of its waiters, and is cancelled when the last one leaves. Its events are kept for waiters that join later.
/// A limited number of works run concurrently; the others wait for a slot.
///
/// ``Flights`` calls these functions under its lock. Afterwards it carries out the ``Actions`` that they leave.
struct SharedWork {
    /// One piece of work, from its first waiter to its result.
    struct Work {
        let handle: WorkHandle
        /// When its body began to run; see ``WriteOrder``.
        var began: UInt64?
        var task: Task<Void, Never>?
        fileprivate(set) var history: [LoadEvent] = []
        /// Whether further loads may no longer join.
        fileprivate(set) var isWithdrawn = false
        private(set) var waiters: [UInt64: (waiter: WorkWaiter, priority: LoadPriority)] = [:]
        /// The number of waiters of each priority.
        private var counts = InlineArray<5, Int32>(repeating: 0)

        fileprivate init(_ handle: WorkHandle) { self.handle = handle }

        /// The highest priority of the waiters; `nil` without any.
        var highest: LoadPriority? { LoadPriority.allCases.last { counts[Int($0.rawValue)] > 0 } }

        /// The waiters, oldest first.
        var inOrder: [WorkWaiter] { waiters.sorted { $0.key < $1.key }.map(\.value.waiter) }

        fileprivate mutating func add(_ waiter: WorkWaiter, _ priority: LoadPriority) {
            waiters[waiter.number] = (waiter, priority)
            counts[Int(priority.rawValue)] += 1
        }

        /// Removes a waiter; false if it isn't waiting.
        fileprivate mutating func remove(_ waiter: WorkWaiter) -> Bool {
            guard let (_, priority) = waiters.removeValue(forKey: waiter.number) else { return false }
            counts[Int(priority.rawValue)] -= 1
            return true
        }
    }

    /// What has to be done once the lock is released: nothing that isn't ours runs under it.
    struct Actions {
        fileprivate var starts: [(handle: WorkHandle, slot: Slot?)] = []
        fileprivate var joined: [WorkHandle] = []
        fileprivate var cancelled: [Task<Void, Never>] = []
        fileprivate var idle: [CheckedContinuation<Void, Never>] = []
        /// Only released: the `deinit` of a user's attachment or error may call ``Flights``.
        fileprivate var removed: [Work] = []
        fileprivate var removedEvents: [LoadEvent] = []

        func carryOut() {
            for (handle, slot) in starts {
                handle.slot.resume(with: .success(slot))
                handle.start.resume(with: .success(()))
            }
            for handle in joined { handle.start.resume(with: .success(())) }
            for task in cancelled { task.cancel() }
            for continuation in idle { continuation.resume() }
        }
    }

    enum Slot { case ordinary, modest }

    /// Whether what a caller waits for is over, by all outermost works that run and the oldest of them.
    typealias IsOver = @Sendable (_ running: [UInt64: Int], _ oldest: UInt64) -> Bool

    /// The number given last: one sequence for works, waiters, writes and removals.
    private(set) var lastNumber: UInt64 = 0
    var works: [UInt64: Work] = [:]
    /// The works that further loads may join.
    private(set) var joinable: [WorkKey: UInt64] = [:]
    /// The number of tasks, including those that wait for a slot or have no waiters any more.
    private(set) var tasks = 0
    /// The number of tasks inside each outermost work, its own included, and one for each refresh.
    private var running: [UInt64: Int] = [:]
    var idleWaiters: [(isOver: IsOver, continuation: CheckedContinuation<Void, Never>)] = []
    /// The works that wait for a slot.
    private(set) var line = PriorityLine<WorkHandle>()
    private let limit: Int
    private var taken = 0
    private var modest = 0
    private var actions = Actions()

    init(limit: Int) { self.limit = max(1, limit) }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Adds a waiter to running work.
    mutating func join(_ waiter: WorkWaiter, _ priority: LoadPriority, isInside: Bool) {
        guard let (handle, history) = works[waiter.work].map({ ($0.handle, $0.history) }) else { return }
        waiter.relay?.enqueue([.joined(fetchOnly: waiter.isFetch)] + history)
        works[waiter.work]?.add(waiter, priority)
        if works[waiter.work]?.task == nil { actions.joined.append(handle) }
        // Work outside waits for this one, and may hold the slot that this one needs.
        if isInside && line.remove(handle) { actions.starts.append((handle, nil)) }
    }

    /// Begins work for its first waiter. It waits for a slot, unless it is inside other work.
    mutating func begin(_ handle: WorkHandle, _ waiter: WorkWaiter, _ priority: LoadPriority) {
        var work = Work(handle)
        work.add(waiter, priority)
        works[handle.number] = work
        joinable[handle.key] = handle.number
        tasks += 1
        enter(handle.outermost)
        if handle.outermost == handle.number {
            line.enqueue(handle, priority)
        } else {
            actions.starts.append((handle, nil))
        }
    }

    /// Removes a waiter; false if it isn't waiting.
    mutating func leave(_ waiter: WorkWaiter) -> Bool { works[waiter.work]?.remove(waiter) ?? false }

    /// Changes a waiter's priority, if it is waiting.
    mutating func prioritize(_ waiter: WorkWaiter, _ priority: LoadPriority) {
        if leave(waiter) { works[waiter.work]?.add(waiter, priority) }
    }

    /// Returns what has to get another priority so that the work has that of its waiters; `nil` if it has.
    mutating func nextPriority(of number: UInt64) -> (AdjustablePriority, LoadPriority, Task<Void, Never>?)? {
        guard let work = works[number], let highest = work.highest, highest != work.handle.priority.value else {
            return nil
        }
        line.move(work.handle, to: highest)
        return (work.handle.priority, highest, work.task)
    }

    /// Queues an event for every waiter, and keeps it for later ones: only the newest progress and the newest preview.
    /// - Returns: The relays that have to deliver it.
    mutating func report(_ event: LoadEvent, of number: UInt64) -> [EventRelay] {
        let replaced = works[number]?.history.firstIndex {
            switch ($0, event) {
            case (.progress, .progress), (.preview, .preview): true
            default: false
            }
        }
        if let replaced, let old = works[number]?.history.remove(at: replaced) { actions.removedEvents.append(old) }
        works[number]?.history.append(event)
        let relays = works[number]?.inOrder.compactMap(\.relay) ?? []
        for relay in relays { relay.enqueue([event]) }
        return relays
    }

    /// Removes work that is over, or that nobody waits for.
    /// - Parameter cancels: Whether its task is to be cancelled.
    mutating func remove(_ number: UInt64, cancels: Bool) -> Work? {
        guard let work = works.removeValue(forKey: number) else { return nil }
        if !work.isWithdrawn { joinable[work.handle.key] = nil }
        if line.remove(work.handle) { actions.starts.append((work.handle, nil)) }
        if cancels, let task = work.task { actions.cancelled.append(task) }
        actions.removed.append(work)
        return work
    }

    /// Lets no further load join the work that matches. Present waiters stay.
    /// - Returns: The outermost works that it is inside of.
    @discardableResult
    mutating func withdraw(where isMeant: (WorkHandle) -> Bool) -> Set<UInt64> {
        var outermost: Set<UInt64> = []
        for (key, number) in joinable {
            guard let handle = works[number]?.handle, isMeant(handle) else { continue }
            joinable[key] = nil
            works[number]?.isWithdrawn = true
            outermost.insert(handle.outermost)
        }
        return outermost
    }

    /// Notes that a task has ended, and releases its slot.
    mutating func endTask(_ slot: Slot?) {
        tasks -= 1
        if slot != nil { taken -= 1 }
        if slot == .modest { modest -= 1 }
    }

    mutating func enter(_ outermost: UInt64) { running[outermost, default: 0] += 1 }

    mutating func exit(_ outermost: UInt64) {
        let count = (running[outermost] ?? 0) - 1
        running[outermost] = count > 0 ? count : nil
    }

    /// Whether an outermost work or a refresh runs; any, if that is `nil`.
    func isRunning(_ outermost: UInt64?) -> Bool { outermost.map { running[$0] != nil } ?? !running.isEmpty }

    /// The oldest outermost work or refresh.
    var oldest: UInt64 { running.keys.min() ?? .max }

    /// Resumes the callers whose wait is over.
    mutating func resumeIdle(oldest: UInt64) {
        let (waiters, running) = (idleWaiters, running)
        actions.idle += waiters.filter { $0.isOver(running, oldest) }.map(\.continuation)
        idleWaiters = waiters.filter { !$0.isOver(running, oldest) }
    }

    /// Assigns free slots, and returns what has to be done after the lock. Work of less than normal priority leaves a
    /// quarter of the slots free, so that loads that a user waits for start at once.
    mutating func takeActions() -> Actions {
        while taken < limit, let (handle, place) = line.first {
            let isModest = place.priority < .normal
            if isModest && modest >= max(1, limit - limit / 4) { break }
            line.remove(handle)
            taken += 1
            if isModest { modest += 1 }
            actions.starts.append((handle, isModest ? .modest : .ordinary))
        }
        defer { actions = Actions() }
        return actions
    }
}
