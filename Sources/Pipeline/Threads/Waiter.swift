/// A task that waits in a line and is resumed once.
///
/// Inlinable, as ``Lock`` is: each response waits once.
@usableFromInline
package final class Waiter<Value: Sendable>: Sendable {
    @usableFromInline
    enum State {
        case new
        case suspended(CheckedContinuation<Value, any Error>)
        /// `nil` once the task has the result.
        case resumed(Result<Value, any Error>?)
    }

    @usableFromInline let state = Lock(State.new)

    @inlinable
    package init() {}

    /// Resumes the task. Only the first call counts.
    @inlinable
    package func resume(with result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case .new: state = .resumed(result)
            case .suspended(let continuation):
                state = .resumed(nil)
                return continuation
            case .resumed: break
            }
            return nil
        }
        continuation?.resume(with: result)
    }

    /// Whether the task is suspended.
    var isSuspended: Bool { state.withLock(isInner: true) { if case .suspended = $0 { true } else { false } } }

    /// Suspends the task until it is resumed. The waiter is in its line already.
    /// - Parameter leave: Called when the task is cancelled. Takes the waiter out of its line, and resumes it if it was
    ///   there.
    @inlinable
    package func value(onCancel leave: @Sendable () -> Void) async throws -> Value {
        try await withTaskCancellationHandler {
            try await value()
        } onCancel: {
            leave()
        }
    }

    /// Suspends the task until it is resumed, even if it is cancelled.
    @inlinable
    package func value() async throws -> Value { try await withCheckedThrowingContinuation { suspend($0) } }

    /// Enqueues the waiter and suspends the task until it is resumed.
    /// - Parameters:
    ///   - enqueue: Puts the waiter into its line. Not called if the task is cancelled already.
    ///   - leave: See ``value(onCancel:)``.
    @inlinable
    package func wait(enqueue: () -> Void, leave: @Sendable () -> Void) async throws -> Value {
        // A task that is already cancelled never joins the line. One that is cancelled later is in its line before
        // `leave` can be called.
        try Task.checkCancellation()
        enqueue()
        return try await value(onCancel: leave)
    }

    /// Does the same, and follows the load's priority as it changes.
    /// - Parameters:
    ///   - priority: How urgent it is where no ``AdjustablePriority`` is in force.
    ///   - move: Moves the waiter to another priority, if it is in its line.
    @inlinable
    package func wait(
        priority: LoadPriority, enqueue: (LoadPriority) -> Void,
        move: @escaping @Sendable (LoadPriority) -> Void, leave: @Sendable () -> Void
    ) async throws -> Value {
        try await AdjustablePriority.following(move) {
            // Read after the waiter follows it, so no change is missed.
            try await wait(enqueue: { enqueue(AdjustablePriority.current?.value ?? priority) }, leave: leave)
        }
    }

    @inlinable
    func suspend(_ continuation: CheckedContinuation<Value, any Error>) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            guard case .resumed(let result) = state else {
                state = .suspended(continuation)
                return nil
            }
            state = .resumed(nil)
            return result
        }
        if let result { continuation.resume(with: result) }
    }
}
