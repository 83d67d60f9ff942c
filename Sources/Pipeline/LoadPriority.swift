/// How urgent a load is against others. Work that several loads share has the highest priority of those waiting.
public enum LoadPriority: UInt8, Sendable, Comparable, CaseIterable {
    /// May wait for everything else.
    case veryLow
    /// Below what a user is looking at, as a prefetch is.
    case low
    /// The default.
    case normal
    /// Before other loads.
    case high
    /// Before everything.
    case veryHigh

    /// Orders priorities from ``veryLow`` to ``veryHigh``.
    public static func < (lhs: LoadPriority, rhs: LoadPriority) -> Bool { lhs.rawValue < rhs.rawValue }
}
