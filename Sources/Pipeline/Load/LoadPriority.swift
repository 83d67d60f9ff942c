/// How urgent a load is, compared to others. Work that several loads share has the highest priority of the waiting
/// loads.
public enum LoadPriority: UInt8, Sendable, Comparable, CaseIterable {
    /// May wait for everything else.
    case veryLow
    /// Below images that a user is looking at, such as for a prefetch.
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

extension LoadPriority {
    /// The corresponding priority of a Swift task.
    package var taskPriority: TaskPriority {
        switch self {
        case .veryLow: .background
        case .low: .low
        case .normal: .medium
        case .high, .veryHigh: .high
        }
    }
}
