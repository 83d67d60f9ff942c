public import Pipeline

/// Limits how many loads run its body concurrently and how many wait for that, and refuses the others.
///
/// ```swift
/// let limit = ConcurrencyLimit(running: 4, waiting: 64)
/// LimitConcurrency(limit) {
///     Decode()
///     Downscale()
/// }
/// ```
///
/// Waiting loads hold no thread. The one with the highest priority runs next, then first in, first out; a load's priority
/// may change while it waits. A cancelled load leaves at once. A load beyond the limit fails with
/// `LoadError.Code.busy`, which a server turns into 503 (RFC 9110 section 15.6.4). Around a `Coalesce`, every load counts;
/// inside it, those that share the work count once.
public struct LimitConcurrency: CompositeStage {
    public var body: Chain
    private let limit: ConcurrencyLimit

    /// Wraps stages.
    /// - Parameters:
    ///   - limit: The limit. Lists with the same one share it.
    ///   - body: The stages.
    public init(_ limit: ConcurrencyLimit, @ChainBuilder _ body: () -> Chain) {
        self.limit = limit
        self.body = body()
    }

    public var parameters: String { "\(limit.running) at once, \(limit.waiting) wait" }

    public var identity: StageIdentity? { StageIdentity(over: [limit]) }

    /// Runs the body once there is a place.
    /// - Throws: `LoadError` with `busy` if too many loads wait; the body's errors; `CancellationError` if the task is
    ///   cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        do {
            try await limit.enter(load.priority)
        } catch is WaitingLineIsFull {
            throw LoadError(
                .busy, subject: load.subject,
                "\(limit.running) loads run and \(limit.waiting) wait, which is the limit. Try again later.")
        }
        defer { limit.leave() }
        try await body.run(&load)
        return .done
    }
}

/// How many loads may run in ``LimitConcurrency`` and how many may wait: one for all lists that share the limit.
public final class ConcurrencyLimit: Sendable {
    private struct Places: SharedResource {
        var free: Int

        mutating func take(_: Void, _: LoadPriority) -> Void? {
            guard free > 0 else { return nil }
            free -= 1
            return ()
        }
    }

    /// The number of loads that may run concurrently.
    let running: Int
    /// The number of loads that may wait.
    let waiting: Int
    private let line: WaitingLine<Places>

    /// Makes a limit.
    /// - Parameters:
    ///   - running: The number of loads that may run concurrently, at least 1.
    ///   - waiting: The number of loads that may wait, at least 0.
    public init(running: Int, waiting: Int) {
        self.running = max(1, running)
        self.waiting = max(0, waiting)
        line = WaitingLine(Places(free: self.running))
    }

    /// The number of loads that wait now.
    package var waitingNow: Int { line.count }

    func enter(_ priority: LoadPriority) async throws {
        try await line.take((), priority: priority, waitingAtMost: waiting)
    }

    func leave() { line.update { $0.free += 1 } }
}
