public import Essentials
import LibC

/// The machine's own clocks.
public struct SystemClock: LoadClock {
    /// Makes the clock.
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
        let end = uptime + duration.clamped
        while true {
            let rest = end - uptime
            guard rest > .zero else { return }
            // A cancelled `Task.sleep` keeps 700 bytes until its time would have come. Most time limits are never met, and
            // there may be thousands of them a second.
            try await Task.sleep(for: min(rest, .seconds(1)))
        }
    }
}
