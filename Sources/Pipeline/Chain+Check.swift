extension Chain {
    /// The phases in which a load can leave this list, if it can enter in `phases`.
    public func outcomes(from phases: Phases) -> Phases {
        slots.reduce(phases) { reached, slot in
            let taken = reached.intersection(slot.accepts)
            return taken.isEmpty ? reached : reached.subtracting(taken).union(slot.stage.produces)
        }
    }

    /// Why a stage of this list can never run, with the remedy; `nil` if each can.
    func problem(from phases: Phases) -> String? {
        var reached = phases
        for slot in slots {
            let taken = reached.intersection(slot.accepts)
            if taken.isEmpty {
                let accepted = slot.accepts.isEmpty ? "nothing" : "\(slot.accepts)"
                return "\(slot.name) can never run: it accepts \(accepted), but where it stands a load is "
                    + "\(reached). Move it or remove it. The list is:\n\(self)"
            }
            if let composite = slot.stage as? any CompositeStage {
                let bodies =
                    composite.hasAlternatives ? composite.body.stages.map { Chain([$0]) } : [composite.body]
                for body in bodies { if let problem = body.problem(from: taken) { return problem } }
            }
            reached = reached.subtracting(taken).union(slot.stage.produces)
        }
        return nil
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
