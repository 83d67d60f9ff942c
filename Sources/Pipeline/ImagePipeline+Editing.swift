/// Lists can be edited by the types of their stages.
///
/// An edit that finds no such stage, or that leaves a stage with nothing to do, is a mistake. Where it is reported depends
/// on where the list comes from:
///
/// - A list written out with ``init(clock:_:)`` is known to the programmer, so the mistake ends the program.
/// - A policy's list, or one made with ``init(validating:clock:)``, may differ from run to run. An edit that finds no such
///   stage leaves it as it is, and so does the insertion of a stage that works on pixels where the list makes none. After
///   an edit that leaves a stage with nothing to do, every load fails with ``LoadError/Code/stageContract``. Nothing ends
///   the program. ``contains(_:)`` tells whether an edit will find its place.
extension ImagePipeline {
    /// Returns whether the list has a stage of a type, in composites' bodies too.
    public func contains<Kind: Stage>(_ type: Kind.Type) -> Bool { chain.contains(type) }

    /// Returns the same pipeline with each stage of type `Old` replaced, in composites' bodies too.
    /// - Precondition: a list that is written out has such a stage, and each of its stages can still run.
    public func replacing<Old: Stage>(_ type: Old.Type, with stage: any Stage) -> ImagePipeline {
        editing(type) { _ in [stage] }
    }

    /// Returns the same pipeline without the stages of type `Old`. A composite whose body becomes empty is removed too.
    /// - Precondition: a list that is written out has such a stage, and each of its stages can still run.
    public func removing<Old: Stage>(_ type: Old.Type) -> ImagePipeline {
        editing(type) { _ in [] }
    }

    /// Returns the same pipeline with a stage before each stage of type `Place`, in composites' bodies too.
    /// - Precondition: a list that is written out has such a place, and each of its stages can run.
    public func inserting<Place: Stage>(_ stage: any Stage, before type: Place.Type) -> ImagePipeline {
        hasWork(for: stage) ? editing(type) { [stage, $0] } : self
    }

    /// Returns the same pipeline with a stage after each stage of type `Place`, in composites' bodies too.
    /// - Precondition: a list that is written out has such a place, and each of its stages can run.
    public func inserting<Place: Stage>(_ stage: any Stage, after type: Place.Type) -> ImagePipeline {
        hasWork(for: stage) ? editing(type) { [$0, stage] } : self
    }

    private func editing<Old: Stage>(_ type: Old.Type, _ change: (any Stage) -> [any Stage]) -> ImagePipeline {
        guard contains(type) else {
            if isWrittenOut {
                endProgram(overMistake: "There is no \(type) in this pipeline to edit. Its stages are:\n\(self)")
            }
            return self
        }
        let edited = valid.editing(type, change)
        return isWrittenOut ? ImagePipeline(clock: clock) { edited } : .arranged(edited, clock: clock)
    }

    /// Whether a stage can have work anywhere in a list that is not known to the programmer.
    private func hasWork(for stage: any Stage) -> Bool {
        isWrittenOut || stage.accepts.isEmpty || !valid.reached(from: .empty).isDisjoint(with: stage.accepts)
    }

    /// The list without the mark of an earlier edit: a later one may make it valid again.
    private var valid: Chain { Chain(chain.stages.filter { !($0 is InvalidList) }) }
}
