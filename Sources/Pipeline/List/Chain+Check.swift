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

    /// Why a stage of this list can never do its work, with the remedy; `nil` if every stage can.
    var problem: String? { located?.text }

    /// The first problem of the list, and where its stage is: its index here, then in the body of that composite, and so
    /// on.
    package var located: (text: String, path: [Int])? {
        var known = Known()
        return problem(from: .empty, &known)
    }

    /// What the stages before a slot have done to a load, besides its phase.
    fileprivate struct Known {
        var isIdentified = false
        /// The credential fields that the keys include; `nil` if the stage that settles the keys doesn't say.
        var credentials: CredentialFields?
        /// The states that its response can be in.
        var responses: Set<ResponseState.Kind> = [.unknown]
        /// The first stage that decodes by codecs of its own, and whether these are confined.
        var codecs: (stage: String, isConfined: Bool)?
    }

    /// - Parameter known: What the stages before this list have done; on return, also what those of this list do.
    private func problem(from phases: Phases, _ known: inout Known) -> (text: String, path: [Int])? {
        var reached = phases
        for (index, slot) in slots.enumerated() {
            let taken = reached.intersection(slot.accepts)
            if let problem = slot.problem(in: reached, taken, known) {
                return ("\(problem) The list is:\n\(self)", [index])
            }
            if known.codecs == nil, let isConfined = slot.hasConfinedCodecs { known.codecs = (slot.name, isConfined) }
            if let composite = slot.stage as? any CompositeStage {
                let bodies =
                    composite.hasAlternatives ? composite.body.stages.map { Chain([$0]) } : [composite.body]
                let before = known
                for (number, body) in bodies.enumerated() {
                    var inside = before
                    inside.codecs = known.codecs
                    if let (text, path) = body.problem(from: taken, &inside) {
                        // An alternative is a list of its own, of one stage.
                        let rest = composite.hasAlternatives ? [number] + path.dropFirst() : path
                        return (text, [index] + rest)
                    }
                    if inside.isIdentified { (known.isIdentified, known.credentials) = (true, inside.credentials) }
                    known.codecs = known.codecs ?? inside.codecs
                }
            }
            if slot.stage.identifies {
                (known.isIdentified, known.credentials) = (true, (slot.stage as? any CredentialStage)?.credentials)
            }
            known.responses.formUnion(slot.stage.leaves)
            reached = reached.subtracting(taken).union(slot.stage.produces)
        }
        return nil
    }

    /// The states in which any of the stages can leave a load's response.
    public var leaves: Set<ResponseState.Kind> { slots.reduce(into: []) { $0.formUnion($1.stage.leaves) } }

    /// The digest of what the stages do to the pixels.
    package var signature: BLAKE2bDigest {
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

extension Chain.Slot {
    /// Whether the codecs by which the stage decodes are confined; `nil` if it decodes by none of its own.
    fileprivate var hasConfinedCodecs: Bool? {
        guard let user = stage as? any CodecStage, user.decodes else { return nil }
        return user.ownCodecs?.isConfined
    }

    /// Why the stage can never do its work where it stands, with the remedy; `nil` if it can.
    fileprivate func problem(in reached: Phases, _ taken: Phases, _ known: Chain.Known) -> String? {
        if taken.isEmpty {
            let accepted = accepts.isEmpty ? "nothing" : "\(accepts)"
            return
                "\(name) can never run: it accepts \(accepted), but where it stands a load is \(reached). Move it or "
                + "remove it."
        }
        if stage is any Transform, stage.signature == nil {
            return
                "\(name) replaces pixels and has no signature: its results would be stored and found under the keys of lists "
                + "without it. Give it a signature that names what it does, with its parameters."
        }
        if stage.needs.isDisjoint(with: known.responses) {
            return
                "\(name) can never do its work: it needs a response that is \(stage.needs.text), but where it stands the "
                + "response is \(known.responses.text). Put a stage before it that looks up or fetches, such as Lookup."
        }
        if let isConfined = hasConfinedCodecs, let first = known.codecs, first.isConfined != isConfined {
            return isConfined
                ? Chain.mixture(confined: name, plain: first.stage) : Chain.mixture(confined: first.stage, plain: name)
        }
        guard stage.needsIdentity else { return nil }
        if !known.isIdentified {
            return "\(name) can never do its work: it goes by the load's keys, which no stage before it settles. Put "
                + "ResolveIdentifier() first."
        }
        let needed = (stage as? any CredentialStage)?.credentials.names ?? []
        guard let missing = needed.subtracting(known.credentials?.names ?? needed).min() else { return nil }
        return
            "\(name) would mix up users: its cache tells them apart by \(missing), and the stage that settles the load's "
            + "keys doesn't. Write ResolveIdentifier(credentials: cache.users.credentials)."
    }
}

extension Set<ResponseState.Kind> {
    /// The names in their order, such as `stale, fresh`.
    fileprivate var text: String {
        ResponseState.Kind.allCases.filter(contains).map(\.rawValue).joined(separator: ", ")
    }
}

extension Chain: CustomStringConvertible {
    /// The list, one stage per line, with bodies in braces.
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
