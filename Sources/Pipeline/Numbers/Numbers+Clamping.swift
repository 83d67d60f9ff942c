// Numbers from a file, a header or a database may have any value; a plain conversion would end the process.

extension FixedWidthInteger {
    /// The nearest number of this type; 0 for NaN.
    package init(clamping value: Double) {
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value.isNaN ? 0 : value < 0 ? .min : .max
        }
    }

    /// The sum, or the end of this type's range that it would exceed.
    package func clampedSum(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

extension Duration {
    /// The seconds, clamped to ±`limit`, so that sums of several can't overflow.
    package static func seconds(clamping seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, -limit), limit))
    }

    /// This duration, clamped to ±`limit`.
    package var clamped: Duration { min(max(self, .seconds(-Self.limit)), .seconds(Self.limit)) }

    /// More than 30,000 years.
    private static let limit = 1e12
}
