import PipelineHTTP
import PipelineImages
public import Pipeline

/// Makes a result from a larger stored one instead of decoding the original again.
///
/// ```swift
/// Results(responses) {
///     FromLargerVariant(responses) {
///         Decode()
///         Downscale()
///         Encode(.webp)
///     }
/// }
/// ```
///
/// Put it into the ``Results`` that looks for the exact size. If the stored response has a result of the same list that is
/// at least twice the wanted size in width and height, the body runs on the largest such result. Otherwise, or if that
/// result is damaged, it runs on the original.
///
/// Such a result went through the encoder twice. Each of its pixels is averaged from at least four, so little is lost.
/// Leave the stage out if results must be as close to their original as the format allows, or if originals are hardly
/// larger than results. A body always runs on the original unless all its stages are `isIdempotent`: transforms would
/// run twice, and results of `DecodeQuality.fast` may come from an embedded thumbnail.
public struct FromLargerVariant: CompositeStage {
    public var body: Chain
    private let responses: HTTPCache

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            composite: "fromLargerVariant",
            "Makes a result from a stored one of at least twice its size, if there is one.",
            example: "[decode, downscale, encode: webp]"
        ) { body in
            let stage = FromLargerVariant(resources.responses, body)
            guard stage.canReuse else {
                throw StageMistake(
                    "fromLargerVariant wraps stages that may work on their own results: decode unless it is fast, downscale, "
                        + "encode.")
            }
            return stage
        }
    }

    /// Wraps the stages that make the result.
    /// - Parameters:
    ///   - responses: Where the list's responses and results are stored.
    ///   - body: Such as a `Decode`, a `Downscale` and an `Encode`.
    public init(_ responses: HTTPCache, @ChainBuilder _ body: () -> Chain) {
        self.responses = responses
        self.body = body()
    }

    /// Whether the body makes the same image from a larger result as from the original.
    package var canReuse: Bool { body.stages.allSatisfy(\.isIdempotent) }

    public var identity: StageIdentity? { StageIdentity(over: [responses]) }

    /// Looks for a larger result, and runs the body.
    /// - Throws: `LoadError` and `CancellationError` of the body.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard let larger = try await larger(for: load), let native = larger.nativeSize else {
            try await body.run(&load)
            return .miss
        }
        let start = load
        do {
            load.advance(to: .original(EncodedImage(bytes: larger.bytes, declaredType: larger.declaredType)))
            try await body.run(&load)
        } catch is LoadError {
            load.restart(from: start)
            try await body.run(&load)
            return .miss
        }
        guard case .encoded(let image) = load.content else { return .done }
        load.advance(
            to: .encoded(
                EncodedImage(
                    bytes: image.bytes, declaredType: image.declaredType, size: image.size, nativeSize: native)))
        return .hit
    }

    /// The largest result, if it is large enough and scales to the same size as its original.
    private func larger(for load: Load) async throws -> EncodedImage? {
        guard canReuse, let box = load.request.maxPixelSize, let key = load.variantKey,
            let stored = load.storedOriginal, stored.belongs(to: responses),
            let image = try await responses.largestVariant(like: key, of: stored.generation, priority: load.priority),
            let size = image.size, let wanted = image.nativeSize?.fitted(into: box), size.fitted(into: box) == wanted,
            size.width / 2 >= wanted.width, size.height / 2 >= wanted.height
        else { return nil }
        return image
    }
}
