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

        /// Adds an event and returns what it replaces, to be released after the lock.
        mutating func append(_ event: ImageTaskEvent?) -> [ImageTaskEvent] {
            guard let event else { return [] }
            lastNumber += 1
            defer { events.append((lastNumber, event)) }
            return switch event {
            case .progress: remove { if case .progress = $0 { true } else { false } }
            case .preview: remove { if case .preview = $0 { true } else { false } }
            default: []
            }
        }

        mutating func remove(where isOld: (ImageTaskEvent) -> Bool) -> [ImageTaskEvent] {
            let old = events.map(\.event).filter(isOld)
            if !old.isEmpty { events.removeAll { isOld($0.event) } }
            return old
        }
    }

    private let state = Lock(State())

    var result: Result<ImageResponse, any Error>? { state.withLock { $0.result } }

    /// What is to be cancelled, unless it has ended already.
    func keep(_ running: Task<Void, Never>) {
        state.withLock { if $0.result == nil { $0.running = running } }
    }

    func take(_ event: LoadEvent) {
        let (listeners, _) = state.withLock { state -> ([Listener], (EventOrder, [ImageTaskEvent])?) in
            guard state.result == nil else { return ([], nil) }
            // The order as it was holds the failure that a later one replaces.
            let order = state.order
            let replaced = state.append(state.order.admit(event))
            defer { state.listeners = [] }
            return (state.listeners, (order, replaced))
        }
        for listener in listeners { listener.resume() }
    }

    /// Never inlined into the task that waits for the result, which would hold the memory of this all the while.
    @inline(never)
    func end(_ result: Result<ImageResponse, any Error>) {
        let (listeners, waiters, _) = state.withLock { state -> ([Listener], [Waiter], [ImageTaskEvent]) in
            guard state.result == nil else { return ([], [], []) }
            var removed = state.append(state.order.end(result))
            // A picture of a part is of no use next to the whole.
            removed += state.remove { if case .preview = $0 { true } else { false } }
            state.result = result
            defer { (state.listeners, state.waiters, state.running) = ([], [], nil) }
            return (state.listeners, state.waiters, removed)
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
