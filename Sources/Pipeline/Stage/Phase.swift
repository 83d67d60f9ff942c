/// How far a load has come. A load only ever moves to a later phase.
public enum Phase: UInt8, Sendable, Comparable, CaseIterable {
    /// Nothing has been found yet.
    case empty
    /// A redirect is at hand, whose target comes next. Only a list that follows redirects has this phase.
    case redirected
    /// The source's own bytes are at hand.
    case original
    /// Pixels are at hand.
    case decoded
    /// The result's bytes are at hand, in a list that has an `Encode`.
    case encoded
    /// The result is final; only observers still run.
    case ready

    /// Orders phases from ``empty`` to ``ready``.
    public static func < (lhs: Phase, rhs: Phase) -> Bool { lhs.rawValue < rhs.rawValue }
}
