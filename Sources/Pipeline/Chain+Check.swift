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
        var identity = Identity()
        return problem(from: .empty, &identity)
    }

    /// What settles the load's keys.
    private struct Identity {
        var isSettled = false
        /// The fields that the keys tell apart; `nil` where the stage doesn't say.
        var credentials: CredentialFields?
    }

    /// - Parameter identity: What the stages before this list settle; on return, also what those of this list do.
    private func problem(from phases: Phases, _ identity: inout Identity) -> String? {
        var reached = phases
        for slot in slots {
            let taken = reached.intersection(slot.accepts)
            if taken.isEmpty {
                let accepted = slot.accepts.isEmpty ? "nothing" : "\(slot.accepts)"
                return "\(slot.name) can never run: it accepts \(accepted), but where it stands a load is "
                    + "\(reached). Move it or remove it. The list is:\n\(self)"
            }
            if slot.stage.needsIdentity {
                if !identity.isSettled {
                    return "\(slot.name) can never do its work: it goes by the load's keys, which no stage before it "
                        + "settles. Put ResolveIdentifier() first. The list is:\n\(self)"
                }
                let needed = (slot.stage as? any CredentialStage)?.credentials.names ?? []
                if let missing = needed.subtracting(identity.credentials?.names ?? needed).min() {
                    return "\(slot.name) would mix up users: its cache tells them apart by \(missing), and the stage "
                        + "that settles the load's keys doesn't. Write ResolveIdentifier(credentials: "
                        + "cache.users.credentials). The list is:\n\(self)"
                }
            }
            if let composite = slot.stage as? any CompositeStage {
                let bodies =
                    composite.hasAlternatives ? composite.body.stages.map { Chain([$0]) } : [composite.body]
                let before = identity
                for body in bodies {
                    var inside = before
                    if let problem = body.problem(from: taken, &inside) { return problem }
                    if inside.isSettled { identity = inside }
                }
            }
            if slot.stage.identifies {
                identity = Identity(
                    isSettled: true, credentials: (slot.stage as? any CredentialStage)?.credentials)
            }
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
