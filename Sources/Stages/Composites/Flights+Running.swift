import Pipeline

/// The work of flights.
extension Flights {
    /// Starts a flight's task, which waits for a slot and then runs `body`.
    func start(_ waiter: FlightWaiter, _ load: Load, _ body: Chain) {
        let task = Task(executorPreference: executor, priority: waiter.priority.value.taskPriority) {
            let slot = try? await waiter.turn.value()
            await CurrentFlight.$root.withValue(waiter.root) {
                await AdjustablePriority.$inherited.withValue(waiter.priority) {
                    await self.run(waiter.flight, load, body, isFetch: waiter.isFetch)
                }
            }
            waiter.priority.end()
            self.endWork(waiter.root) { state in
                state.tasks -= 1
                if let slot { state.slots.release(slot) }
            }
        }
        let abandoned = change { state in
            state.records[waiter.flight]?.task = task
            return state.records[waiter.flight] == nil
        }
        if abandoned { task.cancel() }
    }

    /// Never inlined into the task that waits for a slot, which would hold this function's memory while it waits.
    @inline(never)
    private func run(_ flight: UInt64, _ load: Load, _ body: Chain, isFetch: Bool) async {
        guard let order = beginWork(of: flight, load) else { return }
        var fork = load.forked { self.broadcast($0, flight) }
        fork.showsImages = { self.showsImages(flight) }
        // Loads that come to one URL by different redirects, or by none, share its fetch.
        if isFetch {
            fork.detach(FollowedRedirects.self)
            fork.beginRequest()
        }
        if load.attachment(FlightOrder.self) == nil { fork.attach(FlightOrder(number: order, flights: self)) }
        do {
            try await body.run(&fork)
            finish(flight, FlightResult(fork))
        } catch {
            // Given up before the waiters go on: one that starts again mustn't join the fetch of the load that failed.
            fork.detach(WriteRight.self)
            finish(flight, FlightResult(fork, error: error))
        }
    }

    /// Notes that a flight begins its work, and returns its order; `nil` if it has no waiters any more.
    private func beginWork(of flight: UInt64, _ load: Load) -> UInt64? {
        change { state in
            guard let key = state.records[flight]?.key else { return nil }
            let order = load.attachment(FlightOrder.self)?.number ?? state.number()
            state.records[flight]?.order = order
            if case .variant(let variant, _, _, _) = key { state.underWay[variant.source, default: []].append(order) }
            return order
        }
    }

    /// Notes that work has ended, and resumes the callers that waited for its end.
    func endWork(_ root: UInt64, _ body: (inout State) -> Void = { _ in }) {
        let idle = change { state in
            state.end(root)
            body(&state)
            return state.takeIdle()
        }
        for waiter in idle { waiter.resume() }
    }

    /// Whether any waiter shows interim images.
    private func showsImages(_ flight: UInt64) -> Bool {
        // Asked outside the lock: a flight inside another asks for its own waiters, which takes the lock again.
        let waiting = state.withLock { $0.records[flight]?.waiters.values.compactMap(\.waiter.showsImages) ?? [] }
        return waiting.contains { $0() }
    }

    private func broadcast(_ event: LoadEvent, _ flight: UInt64) {
        let relays = change { state -> [EventRelay] in
            if let replaced = state.records[flight]?.remember(event) { state.removedEvents.append(replaced) }
            let waiters = state.records[flight]?.waiters.sorted { $0.key < $1.key } ?? []
            let relays = waiters.compactMap(\.value.waiter.relay)
            for relay in relays { relay.enqueue([event]) }
            return relays
        }
        for relay in relays { relay.deliver() }
    }
}

extension LoadPriority {
    /// The corresponding priority of a Swift task.
    var taskPriority: TaskPriority {
        switch self {
        case .veryLow: .background
        case .low: .low
        case .normal: .medium
        case .high, .veryHigh: .high
        }
    }
}
