import Pipeline

/// Reports several attempts as one request, which is sent once and completed with the last attempt's result.
final class RetryEvents: Sendable {
    private struct State {
        var hasSent = false
        var failure: LoadEvent?
    }

    private let watched: Load
    private let state = Lock(State())

    init(_ watched: Load) { self.watched = watched }

    /// Passes on an attempt's event, unless it was reported before or a later attempt may change it.
    func take(_ event: LoadEvent) {
        // The failure that this one replaces is released after the lock: it may hold a user's error.
        let (isNews, _) = state.withLock { state -> (Bool, LoadEvent?) in
            switch event {
            case .sendingRequest:
                defer { state.hasSent = true }
                return (!state.hasSent, nil)
            case .requestCompleted(_, .some):
                defer { state.failure = event }
                return (false, state.failure)
            default: return (true, nil)
            }
        }
        if isNews { watched.report(event) }
    }

    /// Reports the last failure, once no further attempt is made.
    func release() {
        let failure = state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
        if let failure { watched.report(failure) }
    }
}
