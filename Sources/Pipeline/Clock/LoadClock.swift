public import Essentials

/// The clock that a pipeline uses, passed in so that tests never sleep.
public protocol LoadClock: Sendable {
    /// The time of day, by which freshness is calculated.
    var now: Date { get }

    /// Monotonic nanoseconds since some fixed moment, used to time stages. A plain number, since making a `Duration`
    /// takes longer than reading the clock.
    var uptimeNanoseconds: Int64 { get }

    /// Waits.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    nonisolated(nonsending) func sleep(for duration: Duration) async throws

    /// Waits until the time limit of concurrent work is over. Calls ``sleep(for:)`` by default; a test's clock may
    /// treat the two differently, since most limits are never reached.
    /// - Throws: `CancellationError` at once when the task is cancelled.
    nonisolated(nonsending) func sleep(untilLimit duration: Duration) async throws
}

extension LoadClock {
    /// Sleeps.
    public func sleep(untilLimit duration: Duration) async throws { try await sleep(for: duration) }

    /// Monotonic time since some fixed moment.
    public var uptime: Duration { .nanoseconds(uptimeNanoseconds) }
}
