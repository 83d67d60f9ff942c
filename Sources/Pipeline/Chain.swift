/// An ordered list of stages: a pipeline's, or the body of a composite.
public struct Chain: Sendable {
    /// A stage with the properties that the engine uses, each read once. A class, since a memory hit has no time to
    /// copy it.
    final class Slot: Sendable {
        let stage: any Stage
        let accepts: Phases
        let name: String
        let type: ObjectIdentifier
        /// Whether the stage says that it leaves pixels and bytes as they are. A composite's stages say so themselves.
        let keepsContent: Bool
        /// What this slot and all later ones accept; in any other phase the load leaves the list.
        let remaining: Phases

        init(_ stage: any Stage, before later: Phases) {
            self.stage = stage
            accepts = stage.accepts
            remaining = accepts.union(later)
            name = stage.name
            type = ObjectIdentifier(Swift.type(of: stage))
            keepsContent = stage.signature == nil && !(stage is any CompositeStage)
        }
    }

    let slots: [Slot]

    /// Makes a list of stages.
    public init(_ stages: [any Stage]) {
        var slots: [Slot] = []
        for stage in stages.reversed() { slots.append(Slot(stage, before: slots.last?.remaining ?? [])) }
        self.slots = slots.reversed()
    }

    /// Makes a list of stages, written one below the other.
    public init(@ChainBuilder _ stages: () -> Chain) { self = stages() }

    /// The stages in their order; composites' bodies are in the composites.
    public var stages: [any Stage] { slots.map(\.stage) }

    /// The phases that any of the stages accepts.
    public var accepts: Phases { slots.first?.remaining ?? [] }

    /// Runs the stages in their order, each in the phases that it accepts, until no later one has work to do.
    /// - Throws: ``LoadError`` with the stage that failed; `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws {
        for slot in slots {
            let phase = load.phase
            guard slot.accepts.contains(phase) else {
                if slot.remaining.contains(phase) { continue }
                return
            }
            try Task.checkCancellation()
            let entry = load.recorder.begin(slot.name, slot.type, clock: load.clock)
            let advances = load.advances
            do {
                try slot.end(entry, try await slot.stage.run(&load), &load, since: (phase, advances))
            } catch {
                throw slot.fail(entry, error, &load)
            }
        }
    }
}

extension Chain.Slot {
    private static let unsigned = "it replaced the image without a signature, which has to name what it does"

    // Never inlined into a function that suspends: their locals would take up its frame for as long as the load waits.

    @inline(never)
    fileprivate func end(
        _ entry: Int, _ outcome: Outcome, _ load: inout Load, since before: (phase: Phase, advances: Int)
    ) throws {
        if let violation = load.violation { throw breach(violation, of: load) }
        let hasAdvanced = load.advances > before.advances
        // Without a signature its products would be stored and found under the keys of lists that lack this stage. A
        // replaced original is fine: it is another response from the source.
        if hasAdvanced, keepsContent, load.phase == before.phase, before.phase != .original {
            throw breach(Self.unsigned, of: load)
        }
        let bytes = hasAdvanced ? load.content.cost : nil
        load.recorder.end(entry, outcome, bytes: bytes, clock: load.clock)
    }

    @inline(never)
    fileprivate func fail(_ entry: Int, _ error: any Error, _ load: inout Load) -> any Error {
        load.recorder.end(entry, .failed, bytes: nil, clock: load.clock)
        return located(error, in: load)
    }
}
