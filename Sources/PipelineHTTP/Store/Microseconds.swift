import Essentials
import Pipeline

/// Times as stores keep them: microseconds since 1970.
extension Date {
    /// The time as a row stores it, clamped to the range.
    ///
    /// Compare these numbers, not dates: a row's time can differ from the date that it was made of in either direction.
    var microseconds: Int64 { Int64(clamping: (timeIntervalSince1970 * 1e6).rounded()) }

    /// Makes a date from a row's time.
    init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1e6) }

    /// The time as it comes back from a row, so that every store answers alike.
    var toMicroseconds: Date { Date(microseconds: microseconds) }

    /// Whether it was noted before the clock was set back. Two seconds are the tolerance between clocks.
    func isFromFuture(at now: Date) -> Bool { self > now + 2 }
}
