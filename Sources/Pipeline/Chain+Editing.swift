extension Chain {
    /// Returns whether any stage has a type, composites' bodies included.
    func contains<Kind: Stage>(_ type: Kind.Type) -> Bool {
        stages.contains { $0 is Kind || ($0 as? any CompositeStage)?.body.contains(type) == true }
    }

    /// Replaces each stage of a type by other stages, in composites' bodies too. A composite whose body becomes empty is
    /// removed with it.
    func editing<Old: Stage>(_ type: Old.Type, _ change: (any Stage) -> [any Stage]) -> Chain {
        Chain(
            stages.flatMap { stage -> [any Stage] in
                if stage is Old { return change(stage) }
                guard var composite = stage as? any CompositeStage, composite.body.contains(type) else {
                    return [stage]
                }
                composite.body = composite.body.editing(type, change)
                return composite.body.stages.isEmpty ? [] : [composite]
            })
    }
}
