/// A stage that depends on which header fields distinguish users.
package protocol CredentialStage {
    /// The fields that its keys include, if the stage identifies loads; otherwise those that the keys of its loads have
    /// to include.
    var credentials: CredentialFields { get }
}

extension Chain {
    /// The fields that the keys of loads include: those of the stage that settles the keys, or else of the list's caches.
    var credentials: CredentialFields {
        let stages = allStages
        if let settling = stages.first(where: \.identifies) as? any CredentialStage { return settling.credentials }
        let cached = stages.compactMap { ($0 as? any CredentialStage)?.credentials }
        guard let first = cached.first else { return .standard }
        return CredentialFields(cached.dropFirst().reduce(first.names) { $0.union($1.names) })
    }

    /// The stages, with those of bodies.
    private var allStages: [any Stage] {
        stages.flatMap { [$0] + (($0 as? any CompositeStage)?.body.allStages ?? []) }
    }
}
