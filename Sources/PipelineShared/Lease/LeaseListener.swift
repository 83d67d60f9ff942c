import Pipeline

/// Waits for the end of another machine's lease.
final class LeaseListener: Sendable {
    enum Event: Sendable, Hashable {
        /// Messages arrive from now on.
        case confirmed
        /// The holder has ended its lease.
        case ended(LeaseOutcome)
        /// The connection is lost, so messages may be too.
        case lost
    }

    private struct State {
        var events: Queue<Event> = []
        var waiter: Waiter<Void>?
    }

    let channel: String
    let number: Int
    private let state = Lock(State())

    init(_ channel: String, number: Int) {
        self.channel = channel
        self.number = number
    }

    /// Adds an event.
    func put(_ event: Event) {
        // Always kept, and not passed to the waiter: its time may just be over.
        let waiter = state.withLock { state in
            state.events.append(event)
            return state.waiter
        }
        waiter?.resume(with: .success(()))
    }

    /// Waits for the next event; returns `nil` once the limit is over.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func next(within limit: Duration, by clock: any LoadClock) async throws -> Event? {
        let waiter = Waiter<Void>()
        let ready = state.withLock { state -> Event? in
            if let event = state.events.popFirst() { return event }
            state.waiter = waiter
            return nil
        }
        if let ready { return ready }
        let limit = Task {
            if (try? await clock.sleep(untilLimit: limit)) != nil { waiter.resume(with: .success(())) }
        }
        defer { limit.cancel() }
        try await waiter.value { waiter.resume(with: .failure(CancellationError())) }
        return state.withLock { state in
            state.waiter = nil
            return state.events.popFirst()
        }
    }
}
