/// A set of ``Phase``s: those in which a stage has work to do, or those in which it can leave a load.
public struct Phases: OptionSet, Sendable, Hashable {
    /// One bit for each phase, the lowest for ``Phase/empty``.
    public let rawValue: UInt8

    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Makes a set of one phase.
    public init(_ phase: Phase) { self.init(rawValue: 1 << phase.rawValue) }

    /// Nothing has been found yet.
    public static let empty = Phases(.empty)
    /// A redirect is at hand.
    public static let redirected = Phases(.redirected)
    /// The source's own bytes are at hand.
    public static let original = Phases(.original)
    /// Pixels are at hand.
    public static let decoded = Phases(.decoded)
    /// The result's bytes are at hand.
    public static let encoded = Phases(.encoded)
    /// The result is final.
    public static let ready = Phases(.ready)
    /// Every phase: what an observer accepts.
    public static let all: Phases = [.empty, .redirected, .original, .decoded, .encoded, .ready]

    /// Whether the set holds a phase.
    public func contains(_ phase: Phase) -> Bool { rawValue & (1 << phase.rawValue) != 0 }

    /// The phases of this set and every later one: where a load can be after a stage that moves it forward at will.
    package var andLater: Phases {
        guard let first = Phase.allCases.first(where: contains) else { return [] }
        return Phase.allCases.filter { $0 >= first }.reduce(into: []) { $0.insert(Phases($1)) }
    }
}

extension Phases: CustomStringConvertible {
    /// The phases' names, such as `empty, original`.
    public var description: String {
        Phase.allCases.filter(contains).map { "\($0)" }.joined(separator: ", ")
    }
}
