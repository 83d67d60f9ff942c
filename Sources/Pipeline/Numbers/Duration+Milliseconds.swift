extension Duration {
    /// Milliseconds with three digits after the point.
    package var millisecondsText: String {
        let microseconds = attoseconds / 1_000_000_000_000
        let (milliseconds, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        let fraction = String(rest)
        return (microseconds < 0 ? "-" : "") + "\(milliseconds)." + String(repeating: "0", count: 3 - fraction.count)
            + fraction
    }
}
