import Pipeline

/// A load that waits for a flight's result. A class, since several places hold it while the load waits.
final class FlightWaiter: Sendable {
    let number: UInt64
    let flight: UInt64
    let isFetch: Bool
    /// Whether another load started the flight.
    let joined: Bool
    let root: UInt64
    let turn: FlightSlots.Turn
    /// The priority of the flight's work.
    let priority: AdjustablePriority
    let relay: EventRelay?
    /// Whether the load shows interim images; `nil` if it has no receiver of events.
    let showsImages: (@Sendable () -> Bool)?
    let result = Waiter<FlightResult>()

    init(_ number: UInt64, _ flight: UInt64, _ record: FlightRecord, joined: Bool, _ load: Load, _ relay: EventRelay?) {
        (self.number, self.flight, self.joined) = (number, flight, joined)
        isFetch = record.key.isFetch
        (root, turn, priority) = (record.root, record.turn, record.priority)
        self.relay = relay
        showsImages = load.events == nil ? nil : load.showsImages ?? { true }
    }

    /// Resumes a removed load with `CancellationError` once none of its events is being delivered. It receives none after
    /// that.
    func cancel() {
        guard let relay else { return result.resume(with: .failure(CancellationError())) }
        relay.close { self.result.resume(with: .failure(CancellationError())) }
    }
}

extension Flights {
    /// Joins the flight for a key, or starts one that runs `body` on a fork of `load`, and waits for it.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func join(
        _ key: FlightKey, load: Load, body: Chain
    ) async throws -> (FlightResult, Joined) {
        let waiter = begin(key, load, body)
        let result = try await AdjustablePriority.following {
            self.prioritize(waiter, $0)
        } _: {
            // The priority may have changed since the load was registered.
            if let priority = AdjustablePriority.current?.value { prioritize(waiter, priority) }
            return try await waiter.result.value { self.leave(waiter) }
        }
        // Made here, so that this load alone holds it. If the result held it longer, a load that starts again would join
        // the flight that it has just left.
        guard waiter.isFetch, result.error == nil else { return (result, (waiter.joined, nil)) }
        let leases = result.load.attachment(WriteRight.self)
        return (result, (waiter.joined, WriteRight(self, flight: waiter.flight, leasesOf: leases)))
    }

    /// Never inlined into the waiting function, whose frame would hold these temporaries while it waits.
    @inline(never)
    private func begin(_ key: FlightKey, _ load: Load, _ body: Chain) -> FlightWaiter {
        let waiter = register(key, load)
        if waiter.joined { follow(waiter.flight) } else { start(waiter, load, body) }
        waiter.relay?.deliver()
        return waiter
    }

    /// Adds a load to the flight that it may join, or to a new one.
    func register(_ key: FlightKey, _ load: Load) -> FlightWaiter {
        let relay = load.events.map { EventRelay($0) }
        let priority = load.priority
        let outer = CurrentFlight.root
        let (waiter, result) = change { state -> (FlightWaiter, FlightResult?) in
            // A task that outlives the flight that began it isn't part of it any more.
            let root = outer.flatMap { state.roots[$0] == nil ? nil : $0 }
            let number = state.number()
            let order = load.attachment(FlightOrder.self)?.number ?? number
            if let flight = state.joinable[key], let record = state.records[flight], record.admits(order) {
                let waiter = FlightWaiter(number, flight, record, joined: true, load, relay)
                relay?.enqueue([.joined(fetchOnly: waiter.isFetch)] + record.history)
                if waiter.isFetch { state.records[flight]?.members += 1 }
                if record.result == nil { state.records[flight]?.add(waiter, priority) }
                // A running flight waits for this one, and may hold the slot that this one needs.
                if root != nil && state.slots.line.remove(record.turn) {
                    state.turns.append((record.turn, .success(nil)))
                }
                return (waiter, record.result)
            }
            let flight = state.number()
            var record = FlightRecord(
                key: key, origin: load.variantKey?.source, root: root ?? flight, priority: priority)
            let waiter = FlightWaiter(number, flight, record, joined: false, load, relay)
            record.add(waiter, priority)
            if waiter.isFetch { record.members = 1 }
            if let superseded = state.joinable[key] {
                state.withdraw(superseded)
                if state.records[superseded]?.members == 0 { state.settleSource(superseded) }
            }
            state.records[flight] = record
            state.joinable[key] = flight
            state.tasks += 1
            state.begin(record.root)
            if root == nil {
                state.slots.line.enqueue(record.turn, priority)
            } else {
                state.turns.append((record.turn, .success(nil)))
            }
            return (waiter, nil)
        }
        if let result { waiter.result.resume(with: .success(result)) }
        return waiter
    }

    /// Removes a waiter that is cancelled. Without waiters the flight is cancelled.
    func leave(_ waiter: FlightWaiter) {
        let (isWaiting, task) = change { state -> (Bool, Task<Void, Never>?) in
            guard state.records[waiter.flight]?.remove(waiter.number) == true,
                let record = state.records[waiter.flight]
            else { return (false, nil) }
            if waiter.isFetch { state.records[waiter.flight]?.members -= 1 }
            guard record.waiters.isEmpty else { return (true, nil) }
            state.forget(waiter.flight)
            return (true, record.task)
        }
        // Otherwise the waiter has its result, or was cancelled with all flights.
        guard isWaiting else { return }
        follow(waiter.flight)
        task?.cancel()
        waiter.cancel()
    }

    /// Ends a flight and resumes its waiters. A failed flight can't be joined from then on.
    func finish(_ flight: UInt64, _ result: FlightResult) {
        let waiting = change { state -> [FlightWaiter] in
            guard let record = state.records[flight] else { return [] }
            state.records[flight]?.result = result
            let waiting = state.records[flight]?.removeAll() ?? []
            if result.error != nil { state.withdraw(flight) }
            if !record.key.isFetch {
                state.forget(flight)
            } else if result.error != nil || record.members == 0 {
                state.settleSource(flight)
            }
            return waiting
        }
        for waiter in waiting { waiter.result.resume(with: .success(result)) }
    }

    /// Changes a waiter's priority.
    func prioritize(_ waiter: FlightWaiter, _ priority: LoadPriority) {
        change { $0.records[waiter.flight]?.prioritize(waiter.number, priority) }
        follow(waiter.flight)
    }

    /// Gives a flight the highest priority of its waiters.
    func follow(_ flight: UInt64) {
        // Threads may set the priority concurrently and out of order, so check again after setting it.
        while let (priority, highest, task) = nextPriority(of: flight) {
            priority.set(highest)
            task?.escalatePriority(to: highest.taskPriority)
        }
    }

    private func nextPriority(of flight: UInt64) -> (AdjustablePriority, LoadPriority, Task<Void, Never>?)? {
        change { state in
            guard let record = state.records[flight], record.result == nil, let highest = record.highest,
                highest != record.priority.value
            else { return nil }
            state.slots.line.move(record.turn, to: highest)
            return (record.priority, highest, record.task)
        }
    }
}
