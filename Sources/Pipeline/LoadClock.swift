public import FoundationEssentials

/// The time that a pipeline lives by, passed in so that tests never sleep.
public protocol LoadClock: Sendable {
    /// The time of day, by which freshness is reckoned.
    var now: Date { get }

    /// Time since some fixed moment, which never goes back: what stages are timed by.
    var uptime: Duration { get }

    /// Waits.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    nonisolated(nonsending) func sleep(for duration: Duration) async throws
}
