/// A stage that does less when it knows what comes after it, such as a decoder that can decode at half the size.
///
/// The pipeline sets ``ahead`` when the list is built, and again when the list is edited.
public protocol LookingAhead: Stage {
    /// What the later stages need.
    var ahead: PixelNeeds { get set }
}

extension Chain {
    /// Returns the list with every stage that looks ahead told what comes after it.
    func lookingAhead() -> Chain {
        var later: [any Stage] = []
        return lookingAhead(&later)
    }

    /// - Parameter later: the stages on pixels that come after this list; on return those of this list before them.
    private func lookingAhead(_ later: inout [any Stage]) -> Chain {
        var informed: [Element] = []
        for var element in elements.reversed() {
            let stage = element.stage
            if var composite = stage as? any CompositeStage, composite.hasAlternatives {
                // Only one alternative runs, so none can count on what another does.
                composite.body = Chain(
                    composite.body.elements.flatMap { alternative in
                        var after = later
                        return Chain([alternative]).lookingAhead(&after).elements
                    })
                element.stage = composite
                informed.append(element)
                if composite.accepts.contains(.decoded) { later.insert(composite, at: 0) }
                continue
            }
            if var composite = stage as? any CompositeStage {
                composite.body = composite.body.lookingAhead(&later)
                element.stage = composite
                informed.append(element)
                continue
            }
            if var looking = stage as? any LookingAhead {
                looking.ahead = PixelNeeds(later)
                element.stage = looking
            }
            informed.append(element)
            if stage.accepts.contains(.decoded) { later.insert(stage, at: 0) }
        }
        return Chain(informed.reversed())
    }
}
