import Pipeline

/// A load's place on a flight.
struct Boarding: Sendable {
    let flight: UInt64
    let waiter: UInt64
    let order: UInt64
    let starts: Bool
    let relay: EventRelay?
    /// What this flight's work follows.
    let priority: AdjustablePriority
}

extension Flights {
    /// Finds the flight that a load may join, or registers a new one.
    func board(_ key: FlightKey, _ load: Load) -> Boarding {
        let relay = load.isWatched ? EventRelay { load.report($0) } : nil
        let priority = load.priority
        return state.withLock { state in
            let waiter = state.number()
            let order = load.attachment(FlightOrder.self)?.number ?? waiter
            if let flight = state.joinable[key], let record = state.records[flight], record.admits(order) {
                relay?.enqueue([.joined(fetchOnly: key.isFetch)] + record.history)
                state.records[flight]?.board(waiter, .init(relay: relay, joined: true, priority: priority))
                if case .source = key { state.records[flight]?.members += 1 }
                return Boarding(
                    flight: flight, waiter: waiter, order: order, starts: false, relay: relay, priority: record.priority
                )
            }
            let flight = state.number()
            var record = FlightRecord(key: key, order: order, priority: priority)
            record.board(waiter, .init(relay: relay, joined: false, priority: priority))
            switch key {
            case .source: record.members = 1
            case .variant(let variant, _, _): state.underWay[variant.source, default: []].append(order)
            }
            if let superseded = state.joinable[key] {
                state.withdraw(superseded)
                if state.records[superseded]?.members == 0 { state.settleSource(superseded) }
            }
            state.records[flight] = record
            state.joinable[key] = flight
            state.tasks += 1
            return Boarding(
                flight: flight, waiter: waiter, order: order, starts: true, relay: relay, priority: record.priority)
        }
    }

    /// Waits for the landing; at once, if the flight has landed or the waiter has left meanwhile.
    func wait(_ boarding: Boarding, _ continuation: CheckedContinuation<Landing, any Error>) {
        let result = state.withLock { state -> Result<Landing, any Error>? in
            guard let record = state.records[boarding.flight], let waiter = record.waiters[boarding.waiter] else {
                return .failure(CancellationError())
            }
            guard let landing = record.landing else {
                state.records[boarding.flight]?.wait(boarding.waiter, continuation)
                return nil
            }
            state.records[boarding.flight]?.dismiss(boarding.waiter)
            return .success(self.landing(landing, for: waiter))
        }
        // Outside the lock: a ticket that is dropped takes it again.
        if let result {
            settle(boarding.flight)
            continuation.resume(with: result)
        }
    }

    /// A waiter leaves before the landing. The last one to leave cancels the flight.
    func leave(_ boarding: Boarding) {
        let (continuation, task) = state.withLock {
            state -> (CheckedContinuation<Landing, any Error>?, Task<Void, Never>?) in
            guard var record = state.records[boarding.flight],
                let waiter = record.dismiss(boarding.waiter)
            else { return (nil, nil) }
            if case .source = record.key { record.members -= 1 }
            state.records[boarding.flight] = record
            guard record.waiters.isEmpty, record.landing == nil else { return (waiter.continuation, nil) }
            state.forget(boarding.flight)
            return (waiter.continuation, record.task)
        }
        settle(boarding.flight)
        follow(boarding.flight)
        task?.cancel()
        continuation?.resume(throwing: CancellationError())
    }

    /// The flight has ended: everyone who waits gets its answer, and a failed one is forgotten first.
    func land(_ flight: UInt64, _ landing: Landing) {
        let waiting = state.withLock { state -> [(CheckedContinuation<Landing, any Error>, Landing)] in
            guard var record = state.records[flight] else { return [] }
            var waiting: [(CheckedContinuation<Landing, any Error>, Landing)] = []
            record.landing = landing
            // In the order in which they came.
            for (number, waiter) in record.waiters.sorted(by: { $0.key < $1.key }) {
                guard let continuation = waiter.continuation else { continue }
                waiting.append((continuation, self.landing(landing, for: waiter)))
                record.dismiss(number)
            }
            state.records[flight] = record
            if landing.error != nil { state.withdraw(flight) }
            return waiting
        }
        settle(flight)
        for (continuation, landing) in waiting { continuation.resume(returning: landing) }
    }

    /// A waiter's own priority has changed.
    func prioritize(_ boarding: Boarding, _ priority: LoadPriority) {
        state.withLock { $0.records[boarding.flight]?.prioritize(boarding.waiter, priority) }
        follow(boarding.flight)
    }

    /// Gives a flight the highest priority of those who wait for it now.
    func follow(_ flight: UInt64) {
        let change = state.withLock { state -> (AdjustablePriority, LoadPriority, Task<Void, Never>?)? in
            guard let record = state.records[flight], record.landing == nil, let highest = record.highest,
                highest != record.priority.value
            else { return nil }
            return (record.priority, highest, record.task)
        }
        guard let (priority, highest, task) = change else { return }
        priority.set(highest)
        task?.escalatePriority(to: highest.taskPriority)
    }

    private func landing(
        _ landing: Landing, for waiter: FlightRecord.Waiter
    ) -> Landing {
        var landing = landing
        landing.joined = waiter.joined
        return landing
    }

    /// Forgets a flight that has landed, once nobody can need it any more.
    func settle(_ flight: UInt64) {
        state.withLock { state in
            guard let record = state.records[flight], record.landing != nil, record.waiters.isEmpty else { return }
            switch record.key {
            case .variant: state.forget(flight)
            case .source: if record.landing?.error != nil || record.members == 0 { state.settleSource(flight) }
            }
        }
    }
}
