extension Chain {
    /// Returns whether any stage fits, composites and their bodies included.
    func contains(where isPlace: (any Stage) -> Bool) -> Bool {
        stages.contains { isPlace($0) || ($0 as? any CompositeStage)?.body.contains(where: isPlace) == true }
    }

    /// Replaces each stage that fits by other stages, in composites' bodies too. A composite whose body becomes empty is
    /// removed with it.
    /// - Parameters:
    ///   - onlyFirst: Whether only the first of the stages that fit changes, in each body.
    ///   - areAlternatives: Whether the stages of this list are alternatives. A stage and its new neighbour are one then:
    ///     a guard that is an alternative of its own would guard nothing.
    func editing(
        where isPlace: (any Stage) -> Bool, onlyFirst: Bool, areAlternatives: Bool = false,
        _ change: (any Stage) -> [any Stage]
    ) -> Chain {
        var isChanged = false
        return Chain(
            stages.flatMap { stage -> [any Stage] in
                if isPlace(stage) {
                    if onlyFirst, isChanged { return [stage] }
                    isChanged = true
                    let changed = change(stage)
                    return areAlternatives && changed.count > 1 ? [Alternative(changed)] : changed
                }
                guard var composite = stage as? any CompositeStage, composite.body.contains(where: isPlace) else {
                    return [stage]
                }
                composite.body = composite.body.editing(
                    where: isPlace, onlyFirst: onlyFirst, areAlternatives: composite.hasAlternatives, change)
                return composite.body.stages.isEmpty ? [] : [composite]
            })
    }
}
