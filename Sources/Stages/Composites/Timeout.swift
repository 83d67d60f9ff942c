public import Pipeline

/// Runs its body, and fails if that takes too long.
///
/// ```swift
/// StaleIfError {
///     Timeout(.seconds(2)) {
///         Fetch(client)
///     }
/// }
/// ```
///
/// Once the limit is over, the body is cancelled and the load fails with `timedOut`, with the body's trace.
/// ``StaleIfError`` then falls back to a stale image, and ``Retry`` tries again. A flight with other waiters continues
/// for them. The load's clock measures the time. A body that never suspends costs no timer.
///
/// A stage in the body that ignores cancellation delays that error until it returns, and a ``Retry`` around this stage
/// as well: if it never returns, neither does the load's work, though callers of a ``Coalesce`` around both can still
/// leave. Check `Task.isCancelled` in stages of your own.
///
/// The limit counts everything that the body does, waiting included: for a thread, for memory, for another load's fetch
/// and for its turn in ``LimitConcurrency``. Around stages that decode, equal loads that wait for the same threads may time
/// out before they begin. `ImageLimits.time` limits the work alone: it counts from the moment that the work has a thread.
public struct Timeout: CompositeStage {
    public var body: Chain
    private let limit: Duration

    /// Wraps stages.
    /// - Parameters:
    ///   - limit: How long the stages may take together.
    ///   - body: The stages.
    public init(_ limit: Duration, @ChainBuilder _ body: () -> Chain) { self.init(limit, body()) }

    fileprivate init(_ limit: Duration, _ body: Chain) {
        self.limit = max(.zero, limit).clamped
        self.body = body
    }

    public var parameters: String { "\(limit.seconds) s" }

    public var identity: StageIdentity? { StageIdentity("\(limit)") }

    /// Runs the body.
    /// - Throws: `LoadError` with `timedOut` once the time is over; the body's errors; `CancellationError` if the task
    ///   is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        let (watched, fork) = (load, load.forked())
        let end = Lock<(load: Load, error: (any Error)?)?>(nil)
        let isInTime = await withTaskGroup(of: Bool.self) { group in
            // Starts at once: an image in memory is found before anything suspends.
            group.addImmediateTask { [body] in
                var fork = fork
                var failure: (any Error)?
                do { try await body.run(&fork) } catch { failure = error }
                end.withLock { $0 = (fork, failure) }
                return true
            }
            guard end.withLock({ $0 == nil }) else { return true }
            group.addTask { [limit] in
                try? await watched.clock.sleep(untilLimit: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? true
        }
        guard let (fork, error) = end.withLock({ $0 }) else { throw CancellationError() }
        load.adopt(fork)
        guard isInTime else {
            try Task.checkCancellation()
            throw LoadError(
                .timedOut, subject: load.subject,
                "The load took longer than \(limit.seconds) s. Allow it more time, or load a smaller image.")
        }
        if let error { throw error }
        return .done
    }
}

extension Chain {
    /// The same list within a time limit, if there is one.
    func limited(to limit: Duration?) -> Chain { limit.map { Chain([Timeout($0, self)]) } ?? self }
}
