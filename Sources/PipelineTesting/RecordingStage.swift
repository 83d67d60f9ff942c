public import Pipeline

/// Records the loads that pass, and changes nothing. Put it where a test wants to look.
public final class RecordingStage: Stage {
    /// The stage's name in lists, traces and errors.
    public let name: String
    public let accepts: Phases
    private let seen = Lock([Load]())

    /// Makes a stage that sees loads in the given phases; in every one by default.
    public init(_ name: String = "RecordingStage", accepts: Phases = .all) {
        self.name = name
        self.accepts = accepts
    }

    /// The phases in which it leaves loads: those in which it found them.
    public var produces: Phases { accepts }

    /// The loads that passed, in their order and as they were then.
    public var loads: [Load] { seen.withLock { $0 } }

    /// The phases in which loads passed, in their order.
    public var phases: [Phase] { loads.map(\.phase) }

    public func run(_ load: inout Load) async throws -> Outcome {
        let copy = load
        seen.withLock { $0.append(copy) }
        return .done
    }
}
