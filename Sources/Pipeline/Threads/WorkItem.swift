/// One piece of blocking work: it waits, runs once or is refused once; or it is left while it runs.
final class WorkItem: Sendable {
    private enum State {
        case new
        case waiting(run: @Sendable () -> Delivery, refuse: Refusal)
        case started(refuse: Refusal)
        case refused
        case over
    }

    /// Hands over what the work gave.
    typealias Delivery = @Sendable () -> Void
    /// Tells the one that waits that the work won't be done.
    typealias Refusal = @Sendable (any Error) -> Void

    let cancellation = WorkCancellation()
    /// Whether nobody waits for the end of work that was cancelled.
    private let isLeft: Bool
    private let state = Lock(State.new)

    init(isLeft: Bool = false) { self.isLeft = isLeft }

    /// Takes what to do; false if the work was cancelled before it could wait.
    func prepare(run: @escaping @Sendable () -> Delivery, refuse: @escaping Refusal) -> Bool {
        let accepted = state.withLock { state in
            guard case .new = state else { return false }
            state = .waiting(run: run, refuse: refuse)
            return true
        }
        if !accepted { refuse(CancellationError()) }
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
        let (isAwaited, _) = state.withLock { state -> (Bool, State?) in
            guard case .started = state else { return (false, nil) }
            defer { state = .over }
            return (true, state)
        }
        if isAwaited { deliver() }
    }

    /// Refuses work that waits; tells work that runs, and leaves it if that is allowed.
    func cancel() {
        cancellation.cancel()
        refuse(CancellationError())
    }

    /// Refuses work that waits.
    func refuse(_ error: any Error) {
        // The closures leave with the state that they were in: they hold what the caller's work holds.
        let old = state.withLock { state -> State in
            let old = state
            switch state {
            case .new, .waiting: state = .refused
            case .started where isLeft: state = .refused
            case .started, .refused, .over: return .over
            }
            return old
        }
        switch old {
        case .waiting(_, let refuse), .started(let refuse): refuse(error)
        case .new, .refused, .over: break
        }
    }
}
