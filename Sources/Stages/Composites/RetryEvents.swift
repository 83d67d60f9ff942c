import Pipeline

/// Makes several attempts one request for whoever watches: it is sent once, and completed with the last attempt's word.
final class RetryEvents: Sendable {
    private struct State {
        var hasSent = false
        var failure: LoadEvent?
    }

    private let watched: Load
    private let state = Lock(State())

    init(_ watched: Load) { self.watched = watched }

    /// Hands an event of an attempt on, unless it was told already or may yet turn out otherwise.
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

    /// No further attempt is made: the last failure is told.
    func release() {
        let failure = state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
        if let failure { watched.report(failure) }
    }
}
