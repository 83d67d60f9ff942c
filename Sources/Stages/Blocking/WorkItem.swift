import Pipeline

/// One piece of blocking work: it waits, runs once or is refused once.
final class WorkItem: Sendable {
    private enum State {
        case new
        case waiting(run: @Sendable () -> Void, refuse: @Sendable () -> Void)
        case started
        case refused
    }

    let cancellation = WorkCancellation()
    private let state = Lock(State.new)

    /// Takes what to do; false if the work was cancelled before it could wait.
    func prepare(run: @escaping @Sendable () -> Void, refuse: @escaping @Sendable () -> Void) -> Bool {
        let accepted = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(run: run, refuse: refuse)
            return true
        }
        if !accepted { refuse() }
        return accepted
    }

    /// Does the work, unless it was refused meanwhile.
    func run() {
        let work = state.withLock { state -> (@Sendable () -> Void)? in
            guard case .waiting(let run, _) = state else { return nil }
            state = .started
            return run
        }
        work?()
    }

    /// Refuses work that waits; tells work that runs.
    func cancel() {
        cancellation.cancel()
        let refuse = state.withLock { state -> (@Sendable () -> Void)? in
            switch state {
            case .waiting(_, let refuse):
                state = .refused
                return refuse
            case .new:
                state = .refused
                return nil
            case .started, .refused: return nil
            }
        }
        refuse?()
    }
}
