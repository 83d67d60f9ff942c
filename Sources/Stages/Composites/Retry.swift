import PipelineHTTP
public import Pipeline

/// Runs its body again after a failure that may pass: the origin can't be reached, took too long, or answered 408, 429,
/// 500, 502, 503 or 504.
///
/// Before each new attempt it waits, by the load's clock, for a random share of a time that doubles with every attempt,
/// so that many clients that failed together don't come back together. An origin's `Retry-After` (RFC 9110 section
/// 10.2.3) is kept; one that is longer than `maximumDelay` ends the attempts. A body that broke off is resumed where
/// the origin allows that. A cancelled load is never tried again, nor one that failed for a reason that stays, such as
/// a refused address, a certificate that is not trusted, or bytes that can't be decoded.
///
/// No policy retries unless it is asked to. Put it around `Fetch`, inside the `Coalesce` that shares it, so that all who
/// wait share the attempts as well:
///
/// ```swift
/// let patient = ImagePipeline.returnCacheElseLoad(resources).replacing(
///     Fetch.self, with: Retry { Fetch(resources.responses, resources.client) })
/// ```
///
/// Whoever watches the load sees one request, whatever the number of attempts; the trace shows each of them.
public struct Retry: CompositeStage {
    /// What is run, once or more.
    public var body: Chain
    /// How often the body is run at most.
    package let maximumAttempts: Int
    /// The longest wait before the second attempt; it doubles with each one after it.
    package let initialDelay: Duration
    /// The longest wait before any attempt, and the longest `Retry-After` that is waited for.
    package let maximumDelay: Duration
    private let jitter: @Sendable () -> Double

    /// Wraps the stages that are tried again, which should be idempotent, as `Fetch` is.
    /// - Parameters:
    ///   - attempts: how often the body is run at most; 3 by default, at least 1.
    ///   - initialDelay: the longest wait before the second attempt; 0.5 seconds by default.
    ///   - maximumDelay: the longest wait before any attempt; 30 seconds by default.
    ///   - jitter: the share, 0 to 1, of the longest wait that is waited; random by default.
    ///   - body: the stages that are run, once or more.
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

    /// How often the body is run at most.
    public var parameters: String { "attempts: \(maximumAttempts)" }

    /// Runs the body until it succeeds, fails for good, or has been run as often as it may.
    /// - Throws: what the last attempt threw; `CancellationError` at once when the task is cancelled.
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

    /// How long to wait after a failed attempt; `nil` if the origin wants a longer wait than is allowed.
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
        case .unreachable: (underlying as? CurlFailure)?.isPermanent != true
        case .timedOut: true
        case .httpStatus: [408, 429, 500, 502, 503, 504].contains(httpStatus)
        default: false
        }
    }
}
