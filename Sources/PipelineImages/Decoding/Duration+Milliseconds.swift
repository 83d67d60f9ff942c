extension Duration {
    /// Whole milliseconds, as animations count.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1000).partialValue &+ attoseconds / 1_000_000_000_000_000
    }
}
