/// Reports the request of one stage: that it begins, how its body arrives, and that it ends, each at most once and in
/// this order.
///
/// The stage's own events pass through it, so that a stage that reports its request itself is not reported twice.
final class RequestReport: Sendable {
    private struct State {
        var hasBegun = false
        var hasProgress = false
        var hasEnded = false
        var waiting: [LoadEvent] = []
        var isDelivering = false
    }

    private let state = Lock(State())
    let sink: @Sendable (LoadEvent) -> Void
    private let hadCachedImage: Bool

    init(_ sink: @escaping @Sendable (LoadEvent) -> Void, hadCachedImage: Bool) {
        self.sink = sink
        self.hadCachedImage = hadCachedImage
    }

    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Reports that the request begins, unless that is known.
    func begin() {
        enqueue { begin(&$0) }
    }

    /// Passes on an event of the stage, after the request's beginning if it belongs to a request.
    func take(_ event: LoadEvent) {
        enqueue { state in
            switch event {
            case .sendingRequest: begin(&state)
            case .requestCompleted: end(&state, event)
            case .progress:
                begin(&state)
                state.hasProgress = true
                state.waiting.append(event)
            default: state.waiting.append(event)
            }
        }
    }

    /// Reports a request that has brought `bytes`, or none, such as a 304.
    func end(from source: LoadSource?, bytes: Int?) {
        enqueue { state in
            begin(&state)
            if let bytes, !state.hasProgress, !state.hasEnded {
                state.waiting.append(.progress(received: bytes, expected: bytes))
            }
            end(&state, .requestCompleted(source: source, error: nil))
        }
    }

    /// Reports a request that has failed.
    func end(with error: LoadError) {
        enqueue { state in
            begin(&state)
            end(&state, .requestCompleted(source: nil, error: error))
        }
    }

    private func begin(_ state: inout State) {
        guard !state.hasBegun else { return }
        state.hasBegun = true
        state.waiting.append(.sendingRequest(hadCachedImage: hadCachedImage))
    }

    private func end(_ state: inout State, _ event: LoadEvent) {
        guard !state.hasEnded else { return }
        state.hasEnded = true
        state.waiting.append(event)
    }

    /// Adds events, and delivers all that wait unless another thread is doing so already: the stage and the engine
    /// report concurrently, and the receiver sees one order.
    private func enqueue(_ change: (inout State) -> Void) {
        var isMine = state.withLock { state in
            change(&state)
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        while isMine {
            let events = state.withLock { state in
                defer { state.waiting = [] }
                state.isDelivering = !state.waiting.isEmpty
                return state.waiting
            }
            isMine = !events.isEmpty
            for event in events { sink(event) }
        }
    }
}
