/// An ordered list of stages: a pipeline's, or the body of a composite.
public struct Chain: Sendable {
    /// A stage with the properties that the engine uses, each read once. A class, since a memory hit has no time to
    /// copy it.
    final class Slot: Sendable {
        let stage: any Stage
        let isGuard: Bool
        let accepts: Phases
        let name: String
        let type: ObjectIdentifier
        /// Whether the stage says that it leaves pixels and bytes as they are. A composite's stages say so themselves.
        let keepsContent: Bool
        let isComposite: Bool
        /// How it shows whether the stage has sent a request.
        let asking: Asking
        /// What this slot and all later ones accept; in any other phase the load leaves the list.
        let remaining: Phases

        init(_ element: Element, before later: Phases) {
            let stage = element.stage
            self.stage = stage
            isGuard = element.isGuard
            accepts = stage.accepts
            remaining = accepts.union(later)
            name = stage.name
            type = ObjectIdentifier(Swift.type(of: stage))
            isComposite = stage is any CompositeStage
            keepsContent = stage.signature == nil && !isComposite
            asking = Asking(stage)
        }
    }

    /// A stage of a list that is put together.
    struct Element {
        var stage: any Stage
        /// Whether an edit has put the stage ``ListPlace/beforeOrigin``.
        var isGuard = false
    }

    let slots: [Slot]

    /// Makes a list of stages.
    public init(_ stages: [any Stage]) { self.init(stages.map { Element(stage: $0) }) }

    init(_ elements: [Element]) {
        var slots: [Slot] = []
        for element in elements.reversed() { slots.append(Slot(element, before: slots.last?.remaining ?? [])) }
        self.slots = slots.reversed()
    }

    /// Makes a list of stages, written one below the other.
    public init(@ChainBuilder _ stages: () -> Chain) { self = stages() }

    /// The stages in their order; composites' bodies are in the composites.
    public var stages: [any Stage] { slots.map(\.stage) }

    var elements: [Element] { slots.map { Element(stage: $0.stage, isGuard: $0.isGuard) } }

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
            let report = slot.asking == .never ? nil : slot.report(&load)
            load.prepare(for: slot.stage)
            do {
                let outcome: Outcome
                if let report {
                    outcome = try await slot.run(&load, report)
                } else {
                    outcome = try await slot.stage.run(&load)
                }
                try slot.end(entry, outcome, &load, since: (phase, advances))
                report?.end(&load)
            } catch {
                let error = slot.fail(entry, error, &load)
                report?.end(&load, error)
                throw error
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
        if let failure = load.takeFailure() { throw failure }
        let hasAdvanced = load.advances > before.advances
        // Without a signature its products would be stored and found under the keys of lists that lack this stage. A
        // replaced original is fine: it is another response from the source.
        if hasAdvanced, keepsContent, load.phase == before.phase, before.phase != .original {
            load.breach(Self.unsigned)
            if let failure = load.takeFailure() { throw failure }
        }
        let bytes = hasAdvanced ? load.content.cost : nil
        let source = hasAdvanced && before.phase == .empty && !isComposite ? load.source : nil
        load.recorder.end(entry, outcome, bytes: bytes, source: source, clock: load.clock)
    }

    @inline(never)
    fileprivate func fail(_ entry: Int, _ error: any Error, _ load: inout Load) -> any Error {
        load.recorder.end(entry, .failed, bytes: nil, clock: load.clock)
        return located(error, in: load)
    }
}
