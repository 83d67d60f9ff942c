// What comes from a file, a header or a database may be any number; a plain conversion would end the process.

extension FixedWidthInteger {
    /// The nearest number of this type; 0 for NaN.
    package init(clamping value: Double) {
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }

    /// The sum, or the end of this type's range that lies beyond.
    package func clampedSum(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

extension Duration {
    /// The seconds, brought to within `limit` and its negative, so that sums of some of them still have room.
    package static func seconds(clamping seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, -limit), limit))
    }

    /// This duration within `limit` and its negative.
    package var clamped: Duration { min(max(self, .seconds(-Self.limit)), .seconds(Self.limit)) }

    /// More than 30,000 years.
    private static let limit = 1e12
}
