extension ImagePipeline {
    /// The same pipeline with each stage of type `Old` replaced, in composites' bodies too.
    /// - Precondition: there is such a stage, and each stage can still run.
    public func replacing<Old: Stage>(_ type: Old.Type, with stage: any Stage) -> ImagePipeline {
        editing(type) { _ in [stage] }
    }

    /// The same pipeline without the stages of type `Old`; a composite whose body becomes empty goes with them.
    /// - Precondition: there is such a stage, and each stage can still run.
    public func removing<Old: Stage>(_ type: Old.Type) -> ImagePipeline {
        editing(type) { _ in [] }
    }

    /// The same pipeline with a stage before each stage of type `Place`, in composites' bodies too.
    /// - Precondition: there is such a place, and each stage can run.
    public func inserting<Place: Stage>(_ stage: any Stage, before type: Place.Type) -> ImagePipeline {
        editing(type) { [stage, $0] }
    }

    /// The same pipeline with a stage after each stage of type `Place`, in composites' bodies too.
    /// - Precondition: there is such a place, and each stage can run.
    public func inserting<Place: Stage>(_ stage: any Stage, after type: Place.Type) -> ImagePipeline {
        editing(type) { [$0, stage] }
    }

    private func editing<Old: Stage>(_ type: Old.Type, _ change: (any Stage) -> [any Stage]) -> ImagePipeline {
        var count = 0
        let edited = chain.editing(type, count: &count, change)
        guard count > 0 else {
            endProgram(overMistake: "There is no \(type) in this pipeline to edit. Its stages are:\n\(self)")
        }
        return ImagePipeline(clock: clock) { edited }
    }
}
