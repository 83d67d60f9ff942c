import Pipeline

/// The events of a load so far and its result, for any number of readers.
final class ImageTaskRecord: Sendable {
    typealias Waiter = CheckedContinuation<Result<ImageResponse, any Error>, Never>
    private typealias Listener = CheckedContinuation<Void, Never>

    private struct State {
        var order = EventOrder()
        /// At most five, since only the newest progress and the newest preview are kept.
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

    /// Keeps the task to cancel, unless the load has ended already.
    func keep(_ running: Task<Void, Never>) {
        state.withLock { if $0.result == nil { $0.running = running } }
    }

    func take(_ event: LoadEvent) {
        let (listeners, _) = state.withLock { state -> ([Listener], (EventOrder, [ImageTaskEvent])?) in
            guard state.result == nil else { return ([], nil) }
            // The old order holds the failure that a later one replaces. It is released after the lock.
            let order = state.order
            let replaced = state.append(state.order.admit(event))
            defer { state.listeners = [] }
            return (state.listeners, (order, replaced))
        }
        for listener in listeners { listener.resume() }
    }

    /// Never inlined into the task that waits for the result, which would hold this function's memory while it waits.
    @inline(never)
    func end(_ result: Result<ImageResponse, any Error>) {
        let (listeners, waiters, _) = state.withLock { state -> ([Listener], [Waiter], [ImageTaskEvent]) in
            guard state.result == nil else { return ([], [], []) }
            var removed = state.append(state.order.end(result))
            // A preview is of no use once the image is there.
            removed += state.remove { if case .preview = $0 { true } else { false } }
            state.result = result
            defer { (state.listeners, state.waiters, state.running) = ([], [], nil) }
            return (state.listeners, state.waiters, removed)
        }
        for waiter in waiters { waiter.resume(returning: result) }
        for listener in listeners { listener.resume() }
    }

    @inline(never)
    func fail(_ error: any Error) { end(.failure(error)) }

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

    /// The first event after the one with the given number.
    func event(after number: Int) -> (number: Int, event: ImageTaskEvent)? {
        state.withLock { $0.events.first { $0.number > number } }
    }

    /// Waits until there is an event after the one with the given number, or the load has ended.
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
