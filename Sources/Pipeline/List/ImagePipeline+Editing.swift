/// Lists can be edited by the types of their stages, or by places such as ``ListPlace/beforeOrigin``.
///
/// An edit that finds no place, or that leaves a stage with nothing to do, is a mistake. Where it is reported depends on
/// where the list comes from:
///
/// - A list written out with ``init(clock:file:line:_:)`` is known to the programmer, so the mistake ends the program and
///   names the line of the edit.
/// - A policy's list, or one made with ``init(validating:clock:)``, may differ from run to run. After such a mistake
///   every load fails with ``LoadError/Code/stageContract``, and an `ImageLoader` can't be made of the list. Nothing ends
///   the program. ``contains(_:)`` tells whether an edit will find its place.
///
/// With `where: .present`, an edit applies only where it finds its place. A stage that works on pixels is left out of a
/// policy's list that makes none.
extension ImagePipeline {
    /// Returns whether the list has a stage of a type, in composites' bodies too.
    public func contains<Kind: Stage>(_ type: Kind.Type) -> Bool { chain.contains { $0 is Kind } }

    /// Returns the same pipeline with each stage of type `Old` replaced, in composites' bodies too.
    /// - Parameters:
    ///   - type: The type of the stages to replace.
    ///   - stage: The new stage.
    ///   - fit: ``EditFit/present`` if the edit applies only to lists that have such a stage.
    ///   - file: Named if the program ends.
    ///   - line: Named if the program ends.
    /// - Precondition: a list that is written out has such a stage, and each of its stages can still run.
    public func replacing<Old: Stage>(
        _ type: Old.Type, with stage: any Stage, where fit: EditFit = .required, file: StaticString = #fileID,
        line: UInt = #line
    ) -> ImagePipeline {
        editing("replacing(\(type), with: \(stage.name))", { $0 is Old }, fit, (file, line)) { _ in
            [.init(stage: stage)]
        }
    }

    /// Returns the same pipeline without the stages of type `Old`. A composite whose body becomes empty is removed too.
    /// - Parameters:
    ///   - type: The type of the stages to remove.
    ///   - fit: ``EditFit/present`` if the edit applies only to lists that have such a stage.
    ///   - file: Named if the program ends.
    ///   - line: Named if the program ends.
    /// - Precondition: a list that is written out has such a stage, and each of its stages can still run.
    public func removing<Old: Stage>(
        _ type: Old.Type, where fit: EditFit = .required, file: StaticString = #fileID, line: UInt = #line
    ) -> ImagePipeline {
        editing("removing(\(type))", { $0 is Old }, fit, (file, line)) { _ in [] }
    }

    /// Returns the same pipeline with a stage before each stage of type `Place`, in composites' bodies too.
    /// - Parameters:
    ///   - stage: The new stage.
    ///   - type: The type of the stages before which it goes.
    ///   - fit: ``EditFit/present`` if the edit applies only to lists that have such a place.
    ///   - file: Named if the program ends.
    ///   - line: Named if the program ends.
    /// - Precondition: a list that is written out has such a place, and each of its stages can run.
    public func inserting<Place: Stage>(
        _ stage: any Stage, before type: Place.Type, where fit: EditFit = .required, file: StaticString = #fileID,
        line: UInt = #line
    ) -> ImagePipeline {
        guard hasWork(for: stage) else { return self }
        let edit = "inserting(\(stage.name), before: \(type))"
        return editing(edit, { $0 is Place }, fit, (file, line)) { [.init(stage: stage), $0] }
    }

    /// Returns the same pipeline with a stage after each stage of type `Place`, in composites' bodies too.
    /// - Parameters:
    ///   - stage: The new stage.
    ///   - type: The type of the stages after which it goes.
    ///   - fit: ``EditFit/present`` if the edit applies only to lists that have such a place.
    ///   - file: Named if the program ends.
    ///   - line: Named if the program ends.
    /// - Precondition: a list that is written out has such a place, and each of its stages can run.
    public func inserting<Place: Stage>(
        _ stage: any Stage, after type: Place.Type, where fit: EditFit = .required, file: StaticString = #fileID,
        line: UInt = #line
    ) -> ImagePipeline {
        guard hasWork(for: stage) else { return self }
        let edit = "inserting(\(stage.name), after: \(type))"
        return editing(edit, { $0 is Place }, fit, (file, line)) { [$0, .init(stage: stage)] }
    }

    /// Returns the same pipeline with a stage at a place that is named by what happens there.
    /// - Parameters:
    ///   - stage: The new stage.
    ///   - place: Such as ``ListPlace/beforeOrigin``.
    ///   - file: Named if the program ends.
    ///   - line: Named if the program ends.
    /// - Precondition: each stage of a list that is written out can run.
    public func inserting(
        _ stage: any Stage, at place: ListPlace, file: StaticString = #fileID, line: UInt = #line
    ) -> ImagePipeline {
        guard hasWork(for: stage) else { return self }
        let new = Chain.Element(stage: stage, isGuard: place.isForGuards)
        return editing(
            "inserting(\(stage.name), at: .\(place.name))", place.isHere, place.isOptional ? .present : .required,
            (file, line), at: place
        ) { place.isBefore ? [new, $0] : [$0, new] }
    }

    /// Returns the same pipeline with stages that are made of each stage of type `Old` in its place, such as a composite
    /// around it, in composites' bodies too.
    ///
    /// ```swift
    /// let bounded = pipeline.wrapping(Fetch.self) { fetch in Timeout(.seconds(5)) { fetch } }
    /// ```
    /// - Parameters:
    ///   - type: The type of the stages to wrap.
    ///   - fit: ``EditFit/present`` if the edit applies only to lists that have such a stage.
    ///   - file: Named if the program ends.
    ///   - line: Named if the program ends.
    ///   - stages: The stages that take the stage's place. It is one of them, or in the body of one.
    /// - Precondition: a list that is written out has such a stage, and each of its stages can still run.
    public func wrapping<Old: Stage>(
        _ type: Old.Type, where fit: EditFit = .required, file: StaticString = #fileID, line: UInt = #line,
        @ChainBuilder in stages: (Old) -> Chain
    ) -> ImagePipeline {
        editing("wrapping(\(type))", { $0 is Old }, fit, (file, line)) { element in
            guard let old = element.stage as? Old else { return [element] }
            return stages(old).elements.map { .init(stage: $0.stage, isGuard: element.isGuard) }
        }
    }

    /// Returns the same pipeline with other stages in the place of those from the first stage of type `First` to the end of
    /// its list, such as a composite around them, in composites' bodies too. A stage that stores the result ends the row as
    /// well, and isn't part of it.
    ///
    /// ```swift
    /// let patient = pipeline.wrapping(from: Decode.self) { work in Timeout(.seconds(5)) { work } }
    /// ```
    /// - Parameters:
    ///   - type: The type of the first stage of the row.
    ///   - fit: ``EditFit/present`` if the edit applies only to lists that have such a stage.
    ///   - file: Named if the program ends.
    ///   - line: Named if the program ends.
    ///   - stages: The stages that take the place of the row, which is among them, or in the body of one.
    /// - Precondition: a list that is written out has such a stage, and each of its stages can still run.
    public func wrapping<First: Stage>(
        from type: First.Type, where fit: EditFit = .required, file: StaticString = #fileID, line: UInt = #line,
        @ChainBuilder in stages: (Chain) -> Chain
    ) -> ImagePipeline {
        editing(
            "wrapping(from: \(type))", { $0 is First }, fit, (file, line),
            by: { valid in
                valid.editing(from: { $0 is First }, stages)
            })
    }

    private func editing(
        _ edit: String, _ isPlace: (any Stage) -> Bool, _ fit: EditFit, _ caller: (file: StaticString, line: UInt),
        at place: ListPlace? = nil, _ change: (Chain.Element) -> [Chain.Element]
    ) -> ImagePipeline {
        editing(edit, isPlace, fit, caller, by: { $0.editing(where: isPlace, at: place, change) })
    }

    private func editing(
        _ edit: String, _ isPlace: (any Stage) -> Bool, _ fit: EditFit, _ caller: (file: StaticString, line: UInt),
        by change: (Chain) -> Chain
    ) -> ImagePipeline {
        guard chain.contains(where: isPlace) else {
            if fit == .present { return self }
            if isWrittenOut {
                endProgram(
                    overMistake: "\(edit) finds no place in this pipeline. Its stages are:\n\(self)",
                    file: caller.file, line: caller.line)
            }
            return .arranged(valid, clock: clock, misplaced: misplacedEdits + [edit])
        }
        let edited = change(valid)
        guard isWrittenOut else { return .arranged(edited, clock: clock, misplaced: misplacedEdits) }
        return ImagePipeline(writtenOut: edited, clock: clock, file: caller.file, line: caller.line)
    }

    /// Whether a stage can have work anywhere in a list that is not known to the programmer.
    private func hasWork(for stage: any Stage) -> Bool {
        isWrittenOut || stage.accepts.isEmpty || !valid.reached(from: .empty).isDisjoint(with: stage.accepts)
    }

    /// The list without the mark of an earlier edit: a later one may make it valid again.
    private var valid: Chain { Chain(chain.elements.filter { !($0.stage is InvalidList) }) }
}

/// In which lists an edit must find its place.
public enum EditFit: Sendable {
    /// In every list. A list without the place is an error, so that a guard is never dropped silently.
    case required
    /// In the lists that have the place. The others stay as they are.
    case present
}
