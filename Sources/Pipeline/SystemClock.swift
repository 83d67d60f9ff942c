public import FoundationEssentials
import Glibc

/// The machine's own clocks.
public struct SystemClock: LoadClock {
    /// The machine's own clocks.
    public init() {}

    /// The time of day.
    public var now: Date { Date() }

    /// The nanoseconds since the machine's start.
    public var uptimeNanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Waits, to within a millisecond.
    public func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        try await Task.sleep(for: duration)
    }
}
