import Pipeline

/// One piece of blocking work: it waits, runs once or is refused once; or it is left while it runs.
final class WorkItem: Sendable {
    private enum State {
        case new
        case waiting(run: @Sendable () -> Delivery, refuse: @Sendable () -> Void)
        case started(refuse: @Sendable () -> Void)
        case refused
        case over
    }

    /// Hands over what the work gave.
    typealias Delivery = @Sendable () -> Void

    let cancellation = WorkCancellation()
    /// Whether nobody waits for the end of work that was cancelled.
    private let isLeft: Bool
    private let state = Lock(State.new)

    init(isLeft: Bool = false) { self.isLeft = isLeft }

    /// Takes what to do; false if the work was cancelled before it could wait.
    func prepare(run: @escaping @Sendable () -> Delivery, refuse: @escaping @Sendable () -> Void) -> Bool {
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
        let work = state.withLock { state -> (@Sendable () -> Delivery)? in
            guard case .waiting(let run, let refuse) = state else { return nil }
            state = .started(refuse: refuse)
            return run
        }
        guard let deliver = work?() else { return }
        let isAwaited = state.withLock { state in
            guard case .started = state else { return false }
            state = .over
            return true
        }
        if isAwaited { deliver() }
    }

    /// Refuses work that waits; tells work that runs, and leaves it if that is allowed.
    func cancel() {
        cancellation.cancel()
        let refuse = state.withLock { state -> (@Sendable () -> Void)? in
            switch state {
            case .waiting(_, let refuse):
                state = .refused
                return refuse
            case .started(let refuse) where isLeft:
                state = .refused
                return refuse
            case .new:
                state = .refused
                return nil
            case .started, .refused, .over: return nil
            }
        }
        refuse?()
    }
}
