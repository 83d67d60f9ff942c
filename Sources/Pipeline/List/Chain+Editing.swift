extension Chain {
    /// Returns whether any stage fits, composites and their bodies included.
    func contains(where isPlace: (any Stage) -> Bool) -> Bool {
        stages.contains { isPlace($0) || ($0 as? any CompositeStage)?.body.contains(where: isPlace) == true }
    }

    /// Replaces each row of stages that begins with one that fits, and ends with its list or before a stage that stores the
    /// result, in composites' bodies too.
    func editing(from isFirst: (any Stage) -> Bool, _ change: (Chain) -> Chain) -> Chain {
        guard let first = elements.firstIndex(where: { isFirst($0.stage) }) else {
            return Chain(
                elements.map { element in
                    guard var composite = element.stage as? any CompositeStage else { return element }
                    composite.body = composite.body.editing(from: isFirst, change)
                    return Element(stage: composite, isGuard: element.isGuard)
                })
        }
        let end = elements[first...].firstIndex { $0.stage.storesResult } ?? elements.endIndex
        return Chain(elements[..<first] + change(Chain(Array(elements[first..<end]))).elements + elements[end...])
    }

    /// Replaces each stage that fits by other stages, in composites' bodies too. A composite whose body becomes empty is
    /// removed with it.
    /// - Parameters:
    ///   - place: The place that the edit names, if it does.
    ///   - areAlternatives: Whether the stages of this list are alternatives. A stage and its new neighbour are one then:
    ///     a guard that is an alternative of its own would guard nothing.
    func editing(
        where isPlace: (any Stage) -> Bool, at place: ListPlace?, areAlternatives: Bool = false,
        _ change: (Element) -> [Element]
    ) -> Chain {
        var isChanged = false
        var isBehindGuard = false
        return Chain(
            elements.flatMap { element -> [Element] in
                let isHere = isPlace(element.stage)
                // Each alternative begins where the composite does, and so has a first stage of its own.
                if place?.isFirstOnly == true, isChanged, !areAlternatives { return [element] }
                // What this edit puts before a guard of an earlier edit stands before all that this one guards.
                let isGuarded = isBehindGuard && place?.isForGuards == true && !areAlternatives
                isBehindGuard = isHere && element.isGuard
                if isHere {
                    if isGuarded { return [element] }
                    isChanged = true
                    let changed = change(element)
                    return areAlternatives && changed.count > 1 ? [Element(stage: Alternative(changed))] : changed
                }
                guard var composite = element.stage as? any CompositeStage, composite.body.contains(where: isPlace)
                else { return [element] }
                composite.body = composite.body.editing(
                    where: isPlace, at: place, areAlternatives: composite.hasAlternatives, change)
                isChanged = true
                var element = element
                element.stage = composite
                return composite.body.stages.isEmpty ? [] : [element]
            })
    }
}
