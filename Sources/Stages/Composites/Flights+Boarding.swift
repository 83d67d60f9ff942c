import Pipeline

/// A load's place on a flight. A class, since it is held in several places while the load waits.
final class Boarding: Sendable {
    let isFetch: Bool
    let flight: UInt64
    let waiter: UInt64
    /// Whether the flight is another load's.
    let joined: Bool
    /// Whether this load is to let the flight depart, at once.
    let departs: Bool
    let relay: EventRelay?
    /// What this flight's work follows.
    let priority: AdjustablePriority

    init(
        _ key: FlightKey, flight: UInt64, waiter: UInt64, joined: Bool, departs: Bool, relay: EventRelay?,
        priority: AdjustablePriority
    ) {
        isFetch = key.isFetch
        (self.flight, self.waiter) = (flight, waiter)
        (self.joined, self.departs) = (joined, departs)
        (self.relay, self.priority) = (relay, priority)
    }
}

extension Flights {
    /// Finds the flight that a load may join, or registers a new one.
    func board(_ key: FlightKey, _ load: Load, _ list: ListIdentity? = nil) -> Boarding {
        let relay = load.events.map { EventRelay($0) }
        let showsImages = load.events == nil ? nil : load.showsImages ?? { true }
        let priority = load.priority
        let outer = CurrentFlight.root
        return change { state in
            // A task that outlives the flight that began it is no part of it any more.
            let root = outer.flatMap { state.roots[$0] == nil ? nil : $0 }
            let isInside = root != nil
            let waiter = state.number()
            let order = load.attachment(FlightOrder.self)?.number ?? waiter
            if let flight = state.joinable[key], let record = state.records[flight], record.admits(order) {
                relay?.enqueue([.joined(fetchOnly: key.isFetch)] + record.history)
                state.records[flight]?.board(
                    waiter, .init(relay: relay, showsImages: showsImages, priority: priority))
                if case .source = key { state.records[flight]?.members += 1 }
                // A flight under way waits for this one, so its own place may be the one that this one needs.
                let departs = isInside && state.departures.remove(flight)
                if departs { state.records[flight]?.departure = .called(waiter) }
                return Boarding(
                    key, flight: flight, waiter: waiter, joined: true, departs: departs, relay: relay,
                    priority: record.priority)
            }
            let flight = state.number()
            let place = isInside ? nil : state.departures.take(priority)
            let departs = isInside || place != nil
            var record = FlightRecord(
                key: key, root: root ?? flight, list: list, departure: departs ? .called(waiter) : .waiting,
                place: place, priority: priority)
            record.board(waiter, .init(relay: relay, showsImages: showsImages, priority: priority))
            if !departs { state.departures.wait(flight, priority) }
            if case .source = key { record.members = 1 }
            if let superseded = state.joinable[key] {
                state.withdraw(superseded)
                if state.records[superseded]?.members == 0 { state.settleSource(superseded) }
            }
            state.records[flight] = record
            state.joinable[key] = flight
            state.tasks += 1
            state.begin(record.root)
            return Boarding(
                key, flight: flight, waiter: waiter, joined: false, departs: departs, relay: relay,
                priority: record.priority)
        }
    }

    /// Waits for the landing, or until the flight may depart; not at all, if either has been or the waiter has left
    /// meanwhile.
    func wait(_ boarding: Boarding, _ continuation: CheckedContinuation<FlightCall, any Error>) {
        enum Answer {
            case later, left
            case now(FlightCall, FlightRecord.Waiter?)
        }
        let answer = change { state -> Answer in
            guard let record = state.records[boarding.flight], record.waiters[boarding.waiter] != nil else {
                return .left
            }
            if case .called(boarding.waiter) = record.departure { return .now(.departure, nil) }
            guard let landing = record.landing else {
                state.records[boarding.flight]?.wait(boarding.waiter, continuation)
                return .later
            }
            return .now(.landing(landing), state.records[boarding.flight]?.dismiss(boarding.waiter))
        }
        switch answer {
        case .later: break
        case .left:
            settle(boarding.flight)
            FlightRecord.Waiter(relay: boarding.relay, priority: .normal, continuation: continuation).cancel()
        case .now(let call, _):
            settle(boarding.flight)
            continuation.resume(returning: call)
        }
    }

    /// A waiter leaves before the landing. The last one to leave cancels the flight.
    func leave(_ boarding: Boarding) {
        let (waiter, called, task) = change {
            state -> (FlightRecord.Waiter?, CheckedContinuation<FlightCall, any Error>?, Task<Void, Never>?) in
            guard var record = state.records[boarding.flight],
                let waiter = record.dismiss(boarding.waiter)
            else { return (nil, nil, nil) }
            if case .source = record.key { record.members -= 1 }
            var called: CheckedContinuation<FlightCall, any Error>?
            // What it was asked to do, another one does.
            if case .called(boarding.waiter) = record.departure { called = record.call() }
            state.records[boarding.flight] = record
            guard record.waiters.isEmpty, record.landing == nil else { return (waiter, called, nil) }
            state.forget(boarding.flight)
            return (waiter, nil, record.task)
        }
        settle(boarding.flight)
        follow(boarding.flight)
        task?.cancel()
        called?.resume(returning: .departure)
        waiter?.cancel()
        goOn()
    }

    /// The flight has ended: everyone who waits gets its answer, and a failed one is forgotten first.
    func land(_ flight: UInt64, _ landing: Landing) {
        let waiting = change { state -> [FlightRecord.Waiter] in
            guard var record = state.records[flight] else { return [] }
            record.landing = landing
            // In the order in which they came; those that don't wait yet find the result later.
            let waiting = record.waiters.filter { $0.value.continuation != nil }.keys.sorted()
                .compactMap { record.dismiss($0) }
            state.records[flight] = record
            if landing.error != nil { state.withdraw(flight) }
            return waiting
        }
        settle(flight)
        for waiter in waiting { waiter.continuation?.resume(returning: .landing(landing)) }
    }

    /// A waiter's own priority has changed.
    func prioritize(_ boarding: Boarding, _ priority: LoadPriority) {
        change { $0.records[boarding.flight]?.prioritize(boarding.waiter, priority) }
        follow(boarding.flight)
    }

    /// Gives a flight the highest priority of those who wait for it now.
    func follow(_ flight: UInt64) {
        var isChanged = false
        // Others may set it at the same time, so look again after it is set: what was read last may have been set first.
        while let (priority, highest, task) = nextPriority(of: flight) {
            priority.set(highest)
            task?.escalatePriority(to: highest.taskPriority)
            isChanged = true
        }
        // A place may be free that was left for it.
        if isChanged { goOn() }
    }

    private func nextPriority(of flight: UInt64) -> (AdjustablePriority, LoadPriority, Task<Void, Never>?)? {
        change { state in
            guard let record = state.records[flight], record.landing == nil, let highest = record.highest,
                highest != record.priority.value
            else { return nil }
            state.departures.move(flight, to: highest)
            return (record.priority, highest, record.task)
        }
    }

    /// Forgets a flight that has landed, once nobody can need it any more.
    func settle(_ flight: UInt64) {
        change { state in
            guard let record = state.records[flight], record.landing != nil, record.waiters.isEmpty else { return }
            switch record.key {
            case .variant: state.forget(flight)
            case .source: if record.landing?.error != nil || record.members == 0 { state.settleSource(flight) }
            }
        }
    }
}
