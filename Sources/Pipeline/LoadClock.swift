public import FoundationEssentials

/// The time that a pipeline lives by, passed in so that tests never sleep.
public protocol LoadClock: Sendable {
    /// The time of day, by which freshness is calculated.
    var now: Date { get }

    /// Nanoseconds since some fixed moment, which never go back: what stages are timed by. A plain number, since a
    /// `Duration` takes longer to make than to read the clock.
    var uptimeNanoseconds: Int64 { get }

    /// Waits.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    nonisolated(nonsending) func sleep(for duration: Duration) async throws

    /// Waits until a time limit on work that runs meanwhile is over. Sleeps by default; a test's clock may tell the two
    /// apart, since most limits are never met.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    nonisolated(nonsending) func sleep(untilLimit duration: Duration) async throws
}

extension LoadClock {
    /// Sleeps.
    public func sleep(untilLimit duration: Duration) async throws { try await sleep(for: duration) }

    /// Time since some fixed moment, which never goes back.
    public var uptime: Duration { .nanoseconds(uptimeNanoseconds) }
}
