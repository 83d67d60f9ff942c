extension Chain {
    /// Replaces each stage of a type by other stages, in composites' bodies too, and counts the places.
    /// A composite whose body becomes empty goes with it.
    func editing<Old: Stage>(
        _ type: Old.Type, count: inout Int, _ change: (any Stage) -> [any Stage]
    ) -> Chain {
        var edited: [any Stage] = []
        for stage in stages {
            if stage is Old {
                count += 1
                edited += change(stage)
            } else if let composite = stage as? any CompositeStage {
                if let kept = composite.editingBody(type, count: &count, change) { edited.append(kept) }
            } else {
                edited.append(stage)
            }
        }
        return Chain(edited)
    }
}

extension CompositeStage {
    fileprivate func editingBody<Old: Stage>(
        _ type: Old.Type, count: inout Int, _ change: (any Stage) -> [any Stage]
    ) -> (any Stage)? {
        let before = count
        let edited = body.editing(type, count: &count, change)
        guard count > before else { return self }
        guard !edited.stages.isEmpty else { return nil }
        var copy = self
        copy.body = edited
        return copy
    }
}
