import Tracing

/// A moment taken from a trace instead of a clock.
struct Moment: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    static func < (lhs: Moment, rhs: Moment) -> Bool { lhs.nanosecondsSinceEpoch < rhs.nanosecondsSinceEpoch }
}

extension Duration {
    /// Whole nanoseconds; zero for a time that ran backwards.
    var nanoseconds: UInt64 {
        UInt64(max(0, components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000))
    }
}
