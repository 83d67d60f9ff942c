import FoundationEssentials
import Pipeline

/// Times as rows have them: microseconds since 1970.
extension Date {
    /// The time as a row has it; what lies beyond its range is brought to its ends.
    var microseconds: Int64 { Int64(clamping: (timeIntervalSince1970 * 1e6).rounded()) }

    /// Reads back a row's time.
    init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1e6) }
}
