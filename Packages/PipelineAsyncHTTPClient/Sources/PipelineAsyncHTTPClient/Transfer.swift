import Pipeline
import Synchronization

/// One transfer, from its request to the end of its body. It is cancelled with the last reference to it.
final class Transfer: Sendable {
    private enum Phase {
        /// No task waits. There is no reader before the head and after the end.
        case idle(ResponseReader?)
        case awaited(ResponseReader?, cancel: @Sendable () -> Void)
        case over(any Error)
    }

    private struct State {
        var phase = Phase.idle(nil)
        var whenOver: (@Sendable () -> Void)?
    }

    private let failure: TransferFailure
    private let state = Mutex(State())

    init(_ failure: TransferFailure) { self.failure = failure }

    deinit { end(CancellationError()) }

    /// Calls `body` when the transfer is over. To be called before its first step.
    func whenOver(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if case .over = state.phase { return true }
            state.whenOver = body
            return false
        }
        if isOver { body() }
    }

    /// Sets what reads the body.
    func receive(_ reader: ResponseReader) {
        state.withLock { state in if case .idle = state.phase { state.phase = .idle(reader) } }
    }

    /// Returns the next chunk; `nil` at the end.
    func next() async throws -> [UInt8]? {
        if let chunk = try await step({ try await $0?.next() }) { return chunk }
        finish(in: .idle(nil))
        return nil
    }

    /// Ends the transfer, unless it is over. A task that waits for it gets the error at once.
    func end(_ error: any Error) { finish(in: .over(error)) }

    private func finish(in last: Phase) {
        // The former phase is released after the lock: with its reader, a connection is closed.
        let (former, whenOver) = state.withLock { state -> (Phase, (@Sendable () -> Void)?) in
            if case .over = state.phase { return (last, nil) }
            defer { (state.phase, state.whenOver) = (last, nil) }
            return (state.phase, state.whenOver)
        }
        if case .awaited(_, let cancel) = former { cancel() }
        whenOver?()
    }

    /// Runs the next step of the transfer: the wait for the head, or for a chunk. When the transfer ends meanwhile, this
    /// throws at once. When the step fails or this task is cancelled, the transfer ends.
    func step<Value: Sendable>(
        _ work: @escaping @Sendable (ResponseReader?) async throws -> Value
    ) async throws -> Value {
        let task = try begin(work)
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            end(CancellationError())
        }
        if case .failure(let error) = result { end(failure.error(for: error)) }
        return try state.withLock { state in
            if case .over(let error) = state.phase { throw error }
            if case .awaited(let reader, _) = state.phase { state.phase = .idle(reader) }
            return try result.get()
        }
    }

    private func begin<Value: Sendable>(
        _ work: @escaping @Sendable (ResponseReader?) async throws -> Value
    ) throws -> Task<Value, any Error> {
        try state.withLock { state in
            switch state.phase {
            case .over(let error): throw error
            case .awaited:
                throw failure.error(
                    .stageContract, "is read by two tasks at the same time; let one read the body and share its bytes.")
            case .idle(let reader):
                let task = Task { try await work(reader) }
                state.phase = .awaited(reader, cancel: { task.cancel() })
                return task
            }
        }
    }
}
