import FoundationEssentials
import Pipeline

/// A clock that stands still until a test moves it.
final class SettableClock: LoadClock {
    private let time: Lock<Date>

    /// Sun, 01 Mar 2026 12:00:00 GMT unless another time is given.
    init(_ time: Date = Date(timeIntervalSince1970: 1_772_366_400)) { self.time = Lock(time) }

    var now: Date { time.withLock { $0 } }

    var uptime: Duration { .seconds(now.timeIntervalSince1970) }

    func advance(by seconds: Double) { time.withLock { $0 += seconds } }

    func sleep(for duration: Duration) async throws {}
}
