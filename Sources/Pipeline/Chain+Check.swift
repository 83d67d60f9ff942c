extension Chain {
    /// The phases in which a load can leave this list, if it can enter in `phases`.
    public func outcomes(from phases: Phases) -> Phases {
        slots.reduce(phases) { reached, slot in
            let taken = reached.intersection(slot.accepts)
            return taken.isEmpty ? reached : reached.subtracting(taken).union(slot.stage.produces)
        }
    }

    /// All phases that a load can be in while it is in this list, if it can enter in `phases`.
    func reached(from phases: Phases) -> Phases {
        var (here, all) = (phases, phases)
        for slot in slots {
            let taken = here.intersection(slot.accepts)
            guard !taken.isEmpty else { continue }
            here = here.subtracting(taken).union(slot.stage.produces)
            all.formUnion(here)
            if let composite = slot.stage as? any CompositeStage { all.formUnion(composite.body.reached(from: taken)) }
        }
        return all
    }

    /// Why a stage of this list can do nothing for any load, with the remedy; `nil` if each can do something.
    var problem: String? {
        var isIdentified = false
        return problem(from: .empty, &isIdentified)
    }

    /// - Parameter isIdentified: Whether a stage before this list settles the load's keys; on return, also whether one of
    ///   this list does.
    private func problem(from phases: Phases, _ isIdentified: inout Bool) -> String? {
        var reached = phases
        for slot in slots {
            let taken = reached.intersection(slot.accepts)
            if taken.isEmpty {
                let accepted = slot.accepts.isEmpty ? "nothing" : "\(slot.accepts)"
                return "\(slot.name) can never run: it accepts \(accepted), but where it stands a load is "
                    + "\(reached). Move it or remove it. The list is:\n\(self)"
            }
            if slot.stage.needsIdentity, !isIdentified {
                return "\(slot.name) can never do its work: it goes by the load's keys, which no stage before it "
                    + "settles. Put ResolveIdentifier() first. The list is:\n\(self)"
            }
            if let composite = slot.stage as? any CompositeStage {
                let bodies =
                    composite.hasAlternatives ? composite.body.stages.map { Chain([$0]) } : [composite.body]
                let before = isIdentified
                for body in bodies {
                    var isIdentifiedInside = before
                    if let problem = body.problem(from: taken, &isIdentifiedInside) { return problem }
                    isIdentified = isIdentified || isIdentifiedInside
                }
            }
            isIdentified = isIdentified || slot.stage.identifies
            reached = reached.subtracting(taken).union(slot.stage.produces)
        }
        return nil
    }

    /// The digest of what the stages do to the pixels.
    package var signature: Digest {
        var hash = BLAKE2b()
        for signature in signatures { hash.update(signature) }
        return hash.finalize()
    }

    /// All signatures in their order, bodies included.
    var signatures: [String] {
        stages.flatMap { stage in
            [stage.signature].compactMap(\.self) + ((stage as? any CompositeStage)?.body.signatures ?? [])
        }
    }
}

extension Chain: CustomStringConvertible {
    /// The list as one reads it: a stage a line, bodies in braces.
    public var description: String { lines.joined(separator: "\n") }

    private var lines: [String] {
        slots.flatMap { slot -> [String] in
            let parameters = slot.stage.parameters
            let head = parameters.isEmpty ? slot.name : "\(slot.name)(\(parameters))"
            guard let composite = slot.stage as? any CompositeStage else { return [head] }
            return ["\(head) {"] + composite.body.lines.map { "    \($0)" } + ["}"]
        }
    }
}
