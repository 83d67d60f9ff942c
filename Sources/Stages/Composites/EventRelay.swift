import DequeModule
import Pipeline

/// Hands one waiter its events one at a time and in order, whichever threads they come from.
final class EventRelay: Sendable {
    private struct State {
        var waiting: Deque<LoadEvent> = []
        var delivering = false
    }

    private let state = Lock(State())
    private let sink: @Sendable (LoadEvent) -> Void

    init(_ sink: @escaping @Sendable (LoadEvent) -> Void) { self.sink = sink }

    /// Puts events in line, to be handed over by ``deliver()``.
    func enqueue(_ events: [LoadEvent]) { state.withLock { $0.waiting.append(contentsOf: events) } }

    /// Hands over what is in line, unless another thread is doing so already.
    func deliver() {
        let mine = state.withLock { state in
            defer { state.delivering = true }
            return !state.delivering
        }
        guard mine else { return }
        while let event = next() { sink(event) }
    }

    private func next() -> LoadEvent? {
        state.withLock { state in
            let event = state.waiting.popFirst()
            if event == nil { state.delivering = false }
            return event
        }
    }
}
