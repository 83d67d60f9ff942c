public import Pipeline
public import PipelineHTTP
public import PipelineImages

/// Looks for a result that this same list made earlier from the stored response, so that it isn't decoded again.
///
/// Put it between the stages that find the bytes and `Decode`, in a list that has an `Encode`. ``Store`` stores the
/// result next to the response. The response's validity is settled before, so a result never outlives it: a replaced
/// response takes its results along, a confirmed one keeps them. `ImagePipeline.encoding(_:keptIn:)` puts both stages
/// into a list. A result that the list can't have made is a miss, and ``Store`` replaces it: see ``ExpectedResult``.
public struct VariantLookup: Stage {
    /// Bytes of a source.
    public let accepts: Phases = .original
    /// The result's bytes, or still the source's.
    public let produces: Phases = [.original, .encoded]

    private let responses: HTTPCache
    private let expected: ExpectedResult

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            "variantLookup", "Looks for an earlier result of the list's encode for the stored response."
        ) { VariantLookup(resources.responses, expecting: .picture(resources.codecs)) }
    }

    /// Looks in `responses`.
    /// - Parameters:
    ///   - responses: The cache that has the results.
    ///   - expected: What the list makes: by default pictures in the formats of `ImageCodecs.standard`.
    public init(_ responses: HTTPCache, expecting expected: ExpectedResult = .picture(.standard)) {
        (self.responses, self.expected) = (responses, expected)
    }

    /// A response that is stored.
    public var needs: Set<ResponseState.Kind> { [.stale, .fresh, .confirmed] }

    /// The stage uses the load's keys.
    public var needsIdentity: Bool { true }

    /// What is expected, and where it is kept.
    public var identity: StageIdentity? { expected.identity(over: [responses]) }

    /// Looks, and moves the load to the result on a hit.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard let key = load.variantKey, let stored = load.storedOriginal, stored.belongs(to: responses) else {
            return .skipped
        }
        load.note(key: .variant(key))
        guard let image = try await responses.variant(key, of: stored.generation, priority: load.priority),
            expected.includes(image)
        else { return .miss }
        load.advance(to: .encoded(image))
        return .hit
    }
}

extension ImagePipeline {
    /// Returns the list with an `Encode` before its ``Store``. The results are stored on disk next to their responses,
    /// and looked up before anything is decoded.
    ///
    /// ```swift
    /// let thumbnails = ImagePipeline.returnCacheElseLoad(resources).encoding(Encode(.webp), keptIn: resources.responses)
    /// ```
    /// - Parameters:
    ///   - encode: The stage that makes the result: an `Encode`, or a stage of your own with a signature.
    ///   - responses: The cache that the list's responses are stored in.
    /// - Precondition: The list has a `Decode` and a `Store`.
    public func encoding(_ encode: any Stage, keptIn responses: HTTPCache) -> ImagePipeline {
        let expected = (encode as? Encode).map { ExpectedResult.picture($0.codecs) } ?? .anything
        return inserting(VariantLookup(responses, expecting: expected), before: Decode.self)
            .inserting(encode, before: Store.self)
    }
}
