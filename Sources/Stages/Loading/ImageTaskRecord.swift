import Pipeline

/// What a load has told so far, and how it ended: kept once, read by any number.
final class ImageTaskRecord: Sendable {
    typealias Waiter = CheckedContinuation<Result<ImageResponse, any Error>, Never>
    private typealias Listener = CheckedContinuation<Void, Never>

    private struct State {
        var order = EventOrder()
        /// Five at most: of the progress and of the previews only the newest.
        var events: [(number: Int, event: ImageTaskEvent)] = []
        var lastNumber = 0
        var result: Result<ImageResponse, any Error>?
        var running: Task<Void, Never>?
        var listeners: [Listener] = []
        var waiters: [Waiter] = []

        mutating func append(_ event: ImageTaskEvent?) {
            guard let event else { return }
            switch event {
            case .progress: events.removeAll { if case .progress = $0.event { true } else { false } }
            case .preview: events.removeAll { if case .preview = $0.event { true } else { false } }
            default: break
            }
            lastNumber += 1
            events.append((lastNumber, event))
        }
    }

    private let state = Lock(State())

    var result: Result<ImageResponse, any Error>? { state.withLock { $0.result } }

    /// What is to be cancelled, unless it has ended already.
    func keep(_ running: Task<Void, Never>) {
        state.withLock { if $0.result == nil { $0.running = running } }
    }

    func take(_ event: LoadEvent) {
        let listeners = state.withLock { state -> [Listener] in
            guard state.result == nil else { return [] }
            state.append(state.order.admit(event))
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners { listener.resume() }
    }

    func end(_ result: Result<ImageResponse, any Error>) {
        let (listeners, waiters) = state.withLock { state -> ([Listener], [Waiter]) in
            guard state.result == nil else { return ([], []) }
            state.append(state.order.end(result))
            // A picture of a part is of no use beside the whole.
            state.events.removeAll { if case .preview = $0.event { true } else { false } }
            state.result = result
            defer { (state.listeners, state.waiters, state.running) = ([], [], nil) }
            return (state.listeners, state.waiters)
        }
        for waiter in waiters { waiter.resume(returning: result) }
        for listener in listeners { listener.resume() }
    }

    func cancel() {
        let running = state.withLock { $0.running }
        end(.failure(CancellationError()))
        running?.cancel()
    }

    func wait(_ continuation: Waiter) {
        let result = state.withLock { state in
            if state.result == nil { state.waiters.append(continuation) }
            return state.result
        }
        if let result { continuation.resume(returning: result) }
    }

    /// The first event after the one with a number.
    func event(after number: Int) -> (number: Int, event: ImageTaskEvent)? {
        state.withLock { $0.events.first { $0.number > number } }
    }

    /// Waits until there is an event after the one with a number, or the load has ended; whether there may be one.
    func listen(after number: Int) async {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                let waits = state.result == nil && state.lastNumber <= number
                if waits { state.listeners.append(continuation) }
                return waits
            }
            if !waits { continuation.resume() }
        }
    }
}
