import FoundationEssentials
import Pipeline

/// Times as rows store them: microseconds since 1970.
extension Date {
    /// The time as a row stores it, clamped to the range.
    var microseconds: Int64 { Int64(clamping: (timeIntervalSince1970 * 1e6).rounded()) }

    /// Makes a date from a row's time.
    init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1e6) }
}
