import Pipeline

/// A load that waits for a flight.
final class Boarding: Sendable {
    let number: UInt64
    let flight: UInt64
    let isFetch: Bool
    /// Whether the flight is another load's.
    let joined: Bool
    let root: UInt64
    let turn: FlightSlots.Turn
    /// What the flight's work follows.
    let priority: AdjustablePriority
    let relay: EventRelay?
    /// Whether the load shows images as they come; `nil` if nobody is told of its events.
    let showsImages: (@Sendable () -> Bool)?
    let landing = Waiter<Landing>()

    init(_ number: UInt64, _ flight: UInt64, _ record: FlightRecord, joined: Bool, _ load: Load, _ relay: EventRelay?) {
        (self.number, self.flight, self.joined) = (number, flight, joined)
        isFetch = record.key.isFetch
        (root, turn, priority) = (record.root, record.turn, record.priority)
        self.relay = relay
        showsImages = load.events == nil ? nil : load.showsImages ?? { true }
    }

    /// Throws `CancellationError` to a load that was dismissed, once none of its events is being delivered: after that it
    /// hears of none.
    func cancel() {
        guard let relay else { return landing.resume(with: .failure(CancellationError())) }
        relay.close { self.landing.resume(with: .failure(CancellationError())) }
    }
}

extension Flights {
    /// Joins the flight for a key, or starts one that runs `body` on a fork of `load`, and waits for it.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func join(
        _ key: FlightKey, load: Load, list: ListIdentity? = nil, body: Chain
    ) async throws -> (Landing, Joined) {
        let boarding = begin(key, load, list, body)
        let landing = try await AdjustablePriority.following {
            self.prioritize(boarding, $0)
        } _: {
            // What it was set to between boarding and here.
            if let priority = AdjustablePriority.current?.value { prioritize(boarding, priority) }
            return try await boarding.landing.value { self.leave(boarding) }
        }
        // Made here, so that this load alone holds it: were it to linger where the answer was handed out, a load that
        // begins again would join the flight that it has just given up.
        guard boarding.isFetch, landing.error == nil else { return (landing, (boarding.joined, nil)) }
        let right =
            landing.load.attachment(WriteRight.self)?.joining(self, flight: boarding.flight)
            ?? WriteRight(self, flight: boarding.flight, lease: nil)
        return (landing, (boarding.joined, right))
    }

    /// Never inlined into where a load waits: what it needs for itself would be held there all the while.
    @inline(never)
    private func begin(_ key: FlightKey, _ load: Load, _ list: ListIdentity?, _ body: Chain) -> Boarding {
        let boarding = board(key, load, list)
        if boarding.joined { follow(boarding.flight) } else { start(boarding, load, body) }
        boarding.relay?.deliver()
        return boarding
    }

    /// Finds the flight that a load may join, or registers a new one.
    func board(_ key: FlightKey, _ load: Load, _ list: ListIdentity? = nil) -> Boarding {
        let relay = load.events.map { EventRelay($0) }
        let priority = load.priority
        let outer = CurrentFlight.root
        let (boarding, landing) = change { state -> (Boarding, Landing?) in
            // A task that outlives the flight that began it is no part of it any more.
            let root = outer.flatMap { state.roots[$0] == nil ? nil : $0 }
            let number = state.number()
            let order = load.attachment(FlightOrder.self)?.number ?? number
            if let flight = state.joinable[key], let record = state.records[flight], record.admits(order) {
                let boarding = Boarding(number, flight, record, joined: true, load, relay)
                relay?.enqueue([.joined(fetchOnly: boarding.isFetch)] + record.history)
                if boarding.isFetch { state.records[flight]?.members += 1 }
                if record.landing == nil { state.records[flight]?.board(boarding, priority) }
                // A flight under way waits for this one, so its own slot may be the one that this one needs.
                if root != nil && state.slots.line.remove(record.turn) {
                    state.turns.append((record.turn, .success(nil)))
                }
                return (boarding, record.landing)
            }
            let flight = state.number()
            var record = FlightRecord(key: key, root: root ?? flight, list: list, priority: priority)
            let boarding = Boarding(number, flight, record, joined: false, load, relay)
            record.board(boarding, priority)
            if boarding.isFetch { record.members = 1 }
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
            return (boarding, nil)
        }
        if let landing { boarding.landing.resume(with: .success(landing)) }
        return boarding
    }

    /// A waiter leaves before the landing. The last one to leave cancels the flight.
    func leave(_ boarding: Boarding) {
        let (isWaiting, task) = change { state -> (Bool, Task<Void, Never>?) in
            guard state.records[boarding.flight]?.dismiss(boarding.number) == true,
                let record = state.records[boarding.flight]
            else { return (false, nil) }
            if boarding.isFetch { state.records[boarding.flight]?.members -= 1 }
            guard record.waiters.isEmpty else { return (true, nil) }
            state.forget(boarding.flight)
            return (true, record.task)
        }
        // It has its landing, or was cancelled before.
        guard isWaiting else { return }
        follow(boarding.flight)
        task?.cancel()
        boarding.cancel()
    }

    /// The flight has ended: everyone who waits gets its answer, and a failed one is forgotten first.
    func land(_ flight: UInt64, _ landing: Landing) {
        let waiting = change { state -> [Boarding] in
            guard let record = state.records[flight] else { return [] }
            state.records[flight]?.landing = landing
            let waiting = state.records[flight]?.dismissAll() ?? []
            if landing.error != nil { state.withdraw(flight) }
            if !record.key.isFetch {
                state.forget(flight)
            } else if landing.error != nil || record.members == 0 {
                state.settleSource(flight)
            }
            return waiting
        }
        for boarding in waiting { boarding.landing.resume(with: .success(landing)) }
    }

    /// A waiter's own priority has changed.
    func prioritize(_ boarding: Boarding, _ priority: LoadPriority) {
        change { $0.records[boarding.flight]?.prioritize(boarding.number, priority) }
        follow(boarding.flight)
    }

    /// Gives a flight the highest priority of those who wait for it now.
    func follow(_ flight: UInt64) {
        // Others may set it at the same time, so look again after it is set: what was read last may have been set first.
        while let (priority, highest, task) = nextPriority(of: flight) {
            priority.set(highest)
            task?.escalatePriority(to: highest.taskPriority)
        }
    }

    private func nextPriority(of flight: UInt64) -> (AdjustablePriority, LoadPriority, Task<Void, Never>?)? {
        change { state in
            guard let record = state.records[flight], record.landing == nil, let highest = record.highest,
                highest != record.priority.value
            else { return nil }
            state.slots.line.move(record.turn, to: highest)
            return (record.priority, highest, record.task)
        }
    }
}
