import Pipeline

/// What stays the same about a piece of shared work. Its first waiter, its task and the line for a slot hold it.
final class WorkHandle: Sendable {
    let number: UInt64
    let key: WorkKey
    /// The source of the load that began it: another than the key's once redirects were followed.
    let origin: SourceKey
    /// The URL, as removals name it; `nil` for other sources.
    let target: String?
    /// The outermost work that this one is inside of; its own number if none.
    let outermost: UInt64
    /// The priority of the work: the highest of its waiters.
    let priority: AdjustablePriority
    /// Its first waiter waits for this before it starts the task: for a slot, or for another load that joins.
    let start = Waiter<Void>()
    /// Its task waits for this before it begins: for a slot, or for `nil` if it needs none.
    let slot = Waiter<SharedWork.Slot?>()

    init(
        _ number: UInt64, _ key: WorkKey, _ load: Load, target: String?, outermost: UInt64?, _ priority: LoadPriority
    ) {
        (self.number, self.key, self.target) = (number, key, target)
        origin = load.variantKey?.source ?? key.source
        self.outermost = outermost ?? number
        self.priority = AdjustablePriority(priority)
    }

    func concerns(_ source: SourceKey?) -> Bool { key.source == source || origin == source }
}

/// A load that waits for the result of shared work. A class, since several places hold it while the load waits.
final class WorkWaiter: Sendable {
    let number: UInt64
    let work: UInt64
    /// The work, if this load began it.
    let begun: WorkHandle?
    let isFetch: Bool
    let relay: EventRelay?
    /// Whether the load shows interim images; `nil` if it has no receiver of events.
    let showsImages: (@Sendable () -> Bool)?
    let result = Waiter<WorkResult>()

    init(_ number: UInt64, work: UInt64, begun: WorkHandle?, isFetch: Bool, _ load: Load, _ relay: EventRelay?) {
        (self.number, self.work, self.begun, self.isFetch, self.relay) = (number, work, begun, isFetch, relay)
        showsImages = load.events == nil ? nil : load.showsImages ?? { true }
    }

    /// Whether another load began the work.
    var joined: Bool { begun == nil }

    /// Resumes a removed load with `CancellationError` once none of its events is being delivered. It receives none after
    /// that.
    func cancel() {
        guard let relay else { return result.resume(with: .failure(CancellationError())) }
        relay.close { self.result.resume(with: .failure(CancellationError())) }
    }
}

/// The result of shared work, for all waiters. A class, so that waiting frames need no room for it.
final class WorkResult: Sendable {
    let load: Load
    let error: (any Error)?

    init(_ load: Load, error: (any Error)? = nil) { (self.load, self.error) = (load, error) }
}

/// A load's way through shared work: it joins or begins work, waits, and gets the result or leaves.
extension Flights {
    /// Waits until the work that a load has begun needs its task: until there is a slot for it, or until another load
    /// joins, since the first may leave then. A load that waits alone has no second task, which is a third of its memory.
    func start(of waiter: WorkWaiter) async {
        guard let handle = waiter.begun else { return }
        try? await wait(for: handle.start, waiter)
    }

    /// Waits for the result of work.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func result(of waiter: WorkWaiter) async throws -> WorkResult { try await wait(for: waiter.result, waiter) }

    private func wait<Value>(for event: Waiter<Value>, _ waiter: WorkWaiter) async throws -> Value {
        try await AdjustablePriority.following {
            self.prioritize(waiter, $0)
        } _: {
            // The priority may have changed since the load was registered.
            if let priority = AdjustablePriority.current?.value { prioritize(waiter, priority) }
            return try await event.value { self.leave(waiter) }
        }
    }

    /// A load's right to write what a fetch has brought.
    func writeRight(of waiter: WorkWaiter, _ result: WorkResult) -> WriteRight {
        WriteRight(self, fetch: waiter.work, leasesOf: result.load.attachment(WriteRight.self))
    }

    /// Joins the work for a key, or begins it. What it begins has to be started once ``start(of:)`` has returned.
    func join(_ key: WorkKey, _ load: Load) -> WorkWaiter {
        let relay = load.events.map { EventRelay($0) }
        let priority = load.priority
        let outer = CurrentFlight.outermost
        let target = if case .url(let url) = load.request.source { url.targetText } else { String?.none }
        let (waiter, result) = change { state -> (WorkWaiter, WorkResult?) in
            let number = state.work.nextNumber()
            func waiter(for work: UInt64, begun: WorkHandle? = nil) -> WorkWaiter {
                WorkWaiter(number, work: work, begun: begun, isFetch: key.isFetch, load, relay)
            }
            // A task that outlives the work that began it isn't part of it any more.
            let outermost = outer.flatMap { state.work.isRunning($0) ? $0 : nil }
            if let work = state.work.joinable[key] {
                let waiter = waiter(for: work)
                state.work.join(waiter, priority, isInside: outermost != nil)
                return (waiter, nil)
            }
            if let fetch = state.writes.join(key, began: load.attachment(LoadStart.self)?.number ?? number) {
                relay?.enqueue([.joined(fetchOnly: true)] + fetch.history)
                return (waiter(for: fetch.handle.number), fetch.result)
            }
            let handle = WorkHandle(number, key, load, target: target, outermost: outermost, priority)
            let waiter = waiter(for: number, begun: handle)
            state.work.begin(handle, waiter, priority)
            return (waiter, nil)
        }
        if let result { waiter.result.resume(with: .success(result)) }
        if waiter.joined { follow(waiter.work) }
        waiter.relay?.deliver()
        return waiter
    }

    /// Starts the task of the work that a load has begun, which waits for a slot and then runs `body` on a fork of `load`.
    /// Work that has been removed gets one too, which ends at once.
    func start(_ waiter: WorkWaiter, _ load: Load, _ body: Chain) {
        guard let handle = waiter.begun else { return }
        let task = Task(executorPreference: executor, priority: handle.priority.value.taskPriority) {
            let slot = try? await handle.slot.value()
            await CurrentFlight.$outermost.withValue(handle.outermost) {
                await AdjustablePriority.$inherited.withValue(handle.priority) {
                    await self.run(handle.number, load, body, isFetch: handle.key.isFetch)
                }
            }
            handle.priority.end()
            self.change { state in
                state.work.endTask(slot)
                state.exit(handle.outermost)
            }
        }
        let isRemoved = change { state in
            state.work.works[handle.number]?.task = task
            return state.work.works[handle.number] == nil
        }
        if isRemoved { task.cancel() }
    }

    /// Never inlined into the task that waits for a slot, which would hold this function's memory while it waits.
    @inline(never)
    private func run(_ work: UInt64, _ load: Load, _ body: Chain, isFetch: Bool) async {
        guard let began = change({ $0.beginBody(of: work, load) }) else { return }
        var fork = load.forked { event in
            for relay in self.change({ $0.work.report(event, of: work) }) { relay.deliver() }
        }
        fork.showsImages = { self.showsImages(work) }
        // Loads that come to one URL by different redirects, or by none, share its fetch.
        if isFetch {
            fork.detach(FollowedRedirects.self)
            fork.beginRequest()
        }
        if load.attachment(LoadStart.self) == nil { fork.attach(LoadStart(number: began, flights: self)) }
        do {
            try await body.run(&fork)
            finish(work, WorkResult(fork))
        } catch {
            // Given up before the waiters go on: one that starts again mustn't join the fetch of the load that failed.
            fork.detach(WriteRight.self)
            finish(work, WorkResult(fork, error: error))
        }
    }

    /// Ends work and resumes its waiters. A fetch that has succeeded can still be joined.
    private func finish(_ number: UInt64, _ result: WorkResult) {
        let waiters = change { state -> [WorkWaiter] in
            guard let work = state.remove(number, cancels: false) else { return [] }
            if work.handle.key.isFetch, result.error == nil { state.writes.add(work, result) }
            return work.inOrder
        }
        for waiter in waiters { waiter.result.resume(with: .success(result)) }
    }

    /// Removes a waiter that is cancelled. Without waiters the work is cancelled.
    func leave(_ waiter: WorkWaiter) {
        let isWaiting = change { state in
            guard state.work.leave(waiter) else { return false }
            if state.work.works[waiter.work]?.waiters.isEmpty == true { state.remove(waiter.work, cancels: true) }
            return true
        }
        // Otherwise the waiter has its result, or was cancelled with all work.
        guard isWaiting else { return }
        follow(waiter.work)
        waiter.cancel()
    }

    /// Changes a waiter's priority.
    func prioritize(_ waiter: WorkWaiter, _ priority: LoadPriority) {
        change { $0.work.prioritize(waiter, priority) }
        follow(waiter.work)
    }

    /// Gives work the highest priority of its waiters.
    private func follow(_ work: UInt64) {
        // Threads may set the priority concurrently and out of order, so check again after setting it.
        while let (priority, highest, task) = change({ $0.work.nextPriority(of: work) }) {
            priority.set(highest)
            task?.escalatePriority(to: highest.taskPriority)
        }
    }

    /// Whether any waiter shows interim images.
    private func showsImages(_ work: UInt64) -> Bool {
        // Asked outside the lock: work inside other work asks for its own waiters, which takes the lock again.
        let waiting = state.withLock { $0.work.works[work]?.waiters.values.compactMap(\.waiter.showsImages) ?? [] }
        return waiting.contains { $0() }
    }
}
