import Pipeline

/// A request that waits for its reply.
final class RedisRequest: Sendable {
    /// The command and its arguments.
    let arguments: [[UInt8]]
    /// The uptime at which the waiter gives up, in nanoseconds.
    let deadline: Int64
    /// The uptime at which it was posted, in nanoseconds.
    let begun: Int64
    /// Whether the server may refuse it, so that nobody needs to be told.
    let isOptional: Bool
    private let waiter = Waiter<RedisValue>()

    init(_ arguments: [[UInt8]], begun: Int64, deadline: Int64, isOptional: Bool = false) {
        self.arguments = arguments
        self.deadline = deadline
        self.begun = begun
        self.isOptional = isOptional
    }

    /// Ends the request. Only the first call counts.
    func end(_ result: Result<RedisValue, any Error>) { waiter.resume(with: result) }

    /// Posts the request and waits for its reply.
    /// - Throws: ``RedisFailure``; `CancellationError` at once if the task is cancelled.
    func reply(posting post: () -> Void) async throws -> RedisValue {
        let value = try await waiter.wait(enqueue: post) { self.end(.failure(CancellationError())) }
        if case .error(let text) = value { throw RedisFailure.refused(text) }
        return value
    }
}
