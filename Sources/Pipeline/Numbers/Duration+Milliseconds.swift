extension Duration {
    /// Whole nanoseconds, as many as fit. `components`, and every division of the 128 bits, take several times as long.
    package var nanoseconds: Int64 {
        if let short = Int64(exactly: attoseconds) { return short / 1_000_000_000 }
        return Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// Milliseconds with three digits after the point.
    package var millisecondsText: String {
        if let short = Int64(exactly: attoseconds) { return Self.text(microseconds: short / 1_000_000_000_000) }
        return Self.text(microseconds: attoseconds / 1_000_000_000_000)
    }

    private static func text(microseconds: some FixedWidthInteger & SignedInteger) -> String {
        let (milliseconds, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        let fraction = rest < 10 ? ".00" : rest < 100 ? ".0" : "."
        return (microseconds < 0 ? "-" : "") + String(milliseconds) + fraction + String(rest)
    }
}
