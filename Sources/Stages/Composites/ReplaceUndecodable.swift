import PipelineHTTP
public import Pipeline

/// Runs its body; if a stored response turns out not to be an image, removes it and runs the body once more without it.
///
/// An entry that was damaged on disk, or that an older version accepted, is thus replaced like a miss.
public struct ReplaceUndecodable: CompositeStage {
    public var body: Chain
    private let responses: HTTPCache

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            composite: "replaceUndecodable", "Removes a stored response that isn't an image, and runs its stages again."
        ) { ReplaceUndecodable(resources.responses, $0) }
    }

    /// Wraps the stages from the disk lookup to the store.
    public init(_ responses: HTTPCache, @ChainBuilder _ body: () -> Chain) {
        self.responses = responses
        self.body = body()
    }

    public var identity: StageIdentity? { StageIdentity(over: [responses]) }

    public func run(_ load: inout Load) async throws -> Outcome {
        let start = load
        do {
            try await body.run(&load)
        } catch let error as LoadError where error.code == .undecodable || error.code == .unsupportedType {
            // An entry that the origin has just confirmed is no better.
            guard let entry = load.storedOriginal, entry.belongs(to: responses) else { throw error }
            await responses.evict(entry)
            load.restart(from: start)
            load.note("the stored response isn't an image and was removed")
            try await body.run(&load)
        }
        return .done
    }
}
