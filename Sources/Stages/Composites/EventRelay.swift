import Pipeline

/// Delivers one waiter's events one at a time and in order, whichever threads they come from.
final class EventRelay: Sendable {
    private struct State {
        var waiting: Queue<LoadEvent> = []
        var isDelivering = false
        var isClosed = false
        /// Called once the delivery under way has ended.
        var closed: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())
    private let sink: @Sendable (LoadEvent) -> Void

    init(_ sink: @escaping @Sendable (LoadEvent) -> Void) { self.sink = sink }

    /// Queues events for ``deliver()``. May be called under the lock of ``Flights``, which decides their order.
    func enqueue(_ events: [LoadEvent]) {
        state.withLock(isInner: true) { state in
            if !state.isClosed { state.waiting.append(contentsOf: events) }
        }
    }

    /// Delivers the queued events, unless another thread is doing so already.
    func deliver() {
        let isMine = state.withLock { state in
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard isMine else { return }
        while let event = next() { CurrentFlight.callOut { sink(event) } }
    }

    /// Drops the queued events and takes no more.
    /// - Parameter closed: Called once no event is being delivered: at once, or by the thread that is delivering one.
    func close(_ closed: @escaping @Sendable () -> Void) {
        let (dropped, isIdle) = state.withLock { state in
            let dropped = state.waiting
            state.waiting = []
            state.isClosed = true
            if state.isDelivering { state.closed.append(closed) }
            return (dropped, !state.isDelivering)
        }
        withExtendedLifetime(dropped) { if isIdle { closed() } }
    }

    private func next() -> LoadEvent? {
        let (event, closed) = state.withLock { state -> (LoadEvent?, [@Sendable () -> Void]) in
            if let event = state.waiting.popFirst() { return (event, []) }
            state.isDelivering = false
            let closed = state.closed
            state.closed = []
            return (nil, closed)
        }
        for closed in closed { closed() }
        return event
    }
}
