public import Pipeline

/// Runs its body again after a temporary failure: the origin can't be reached, took too long, or answered 408, 429,
/// 500, 502, 503 or 504.
///
/// Before each retry it waits for a random share of a delay that doubles with every attempt, so that clients that
/// failed together don't return together. The load's clock measures the wait. An origin's `Retry-After` (RFC 9110
/// section 10.2.3) is honoured; one that is longer than `maximumDelay` ends the attempts. A body that broke off is
/// resumed if the origin allows that. Cancelled loads and permanent failures, such as a refused address, an untrusted
/// certificate or bytes that can't be decoded, are never retried. An attempt is over when its stages have returned: with
/// a ``Timeout`` in the body, a stage that ignores cancellation and never returns holds up the next attempt for ever.
///
/// No policy retries by itself. Put the stage around `Fetch`, inside the `Coalesce` that shares it, so that all waiters
/// share the attempts as well:
///
/// ```swift
/// let patient = ImagePipeline.returnCacheElseLoad(resources).replacing(
///     Fetch.self, with: Retry { Fetch(resources.client) })
/// ```
///
/// The load's events show one request, whatever the number of attempts; the trace shows each of them.
public struct Retry: CompositeStage {
    public var body: Chain
    /// How often the body is run at most.
    package let maximumAttempts: Int
    /// The longest wait before the second attempt; it doubles with each one after it.
    package let initialDelay: Duration
    /// The longest wait before any attempt, and the longest `Retry-After` that is waited for.
    package let maximumDelay: Duration
    private let jitter: @Sendable () -> Double

    package static let specification = StageSpecification(
        composite: "retry", "Runs its stages again after a temporary failure.",
        .optional("attempts", .integer(1...100), "How often the stages run at most.", default: 3, example: "5"),
        .optional(
            "initialDelay", .seconds(0...86_400), "The longest wait before the second attempt.",
            default: .milliseconds(500), example: "1"),
        .optional(
            "maximumDelay", .seconds(0...86_400), "The longest wait before any attempt.", default: .seconds(30),
            example: "60")
    ) { Retry(attempts: $1, initialDelay: $2, maximumDelay: $3, $0) }

    /// Wraps the stages to retry, which should be idempotent, as `Fetch` is.
    /// - Parameters:
    ///   - attempts: How often the body is run at most; 3 by default, at least 1.
    ///   - initialDelay: The longest wait before the second attempt; 0.5 seconds by default.
    ///   - maximumDelay: The longest wait before any attempt; 30 seconds by default.
    ///   - jitter: Returns which share of the longest wait to wait for, 0 to 1; random by default.
    ///   - body: The stages that are run, once or more.
    public init(
        attempts: Int = 3, initialDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(30),
        jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) }, @ChainBuilder _ body: () -> Chain
    ) {
        maximumAttempts = max(1, attempts)
        self.initialDelay = max(.zero, initialDelay).clamped
        self.maximumDelay = max(.zero, maximumDelay).clamped
        self.jitter = jitter
        self.body = body()
    }

    public var parameters: String { "attempts: \(maximumAttempts)" }

    public var identity: StageIdentity? { StageIdentity("\(maximumAttempts), \(initialDelay), \(maximumDelay)") }

    /// Runs the body until it succeeds, fails for good, or has been run as often as it may.
    /// - Throws: The last attempt's error; `CancellationError` at once when the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        let events = RetryEvents(load)
        var attempt = load.forked(events: load.isWatched ? { @Sendable event in events.take(event) } : nil)
        defer { load.adopt(attempt) }
        let start = attempt
        var number = 1
        while true {
            do {
                try await body.run(&attempt)
                return .done
            } catch let error as LoadError {
                guard number < maximumAttempts, error.isTransient, let delay = delay(after: error, attempt: number)
                else {
                    events.release()
                    if number > 1 { load.note(.attempts(number)) }
                    throw error
                }
                try await load.clock.sleep(for: delay)
                let partial = attempt.attachment(PartialBody.self)
                attempt.restart(from: start)
                if let partial { attempt.attach(partial) }
                number += 1
            }
        }
    }

    /// How long to wait after a failed attempt; `nil` if the origin demands a longer wait than is allowed.
    private func delay(after error: LoadError, attempt: Int) -> Duration? {
        let wanted = error.retryAfter ?? .zero
        guard wanted <= maximumDelay else { return nil }
        var longest = min(initialDelay, maximumDelay)
        for _ in 1..<attempt where longest < maximumDelay { longest = min(longest * 2, maximumDelay) }
        return max(wanted, longest * min(max(jitter(), 0), 1))
    }
}

extension LoadError {
    /// Whether the same request may well succeed a little later.
    fileprivate var isTransient: Bool {
        switch code {
        case .unreachable: !isPermanent
        case .timedOut: true
        case .httpStatus: [408, 429, 500, 502, 503, 504].contains(httpStatus)
        default: false
        }
    }
}
