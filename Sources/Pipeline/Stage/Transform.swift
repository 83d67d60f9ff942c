/// A stage that turns pixels into other pixels.
///
/// A transform needs a ``Stage/signature``: results of different parameters must never share a key.
public protocol Transform: Stage {
    /// Names what the transform does with all its parameters, such as `sharpen(0.5)`.
    var signature: String? { get }

    /// Returns the new pixels, with every frame of an animation transformed.
    /// - Throws: any error, which the pipeline reports as this stage's; `CancellationError` if the task is cancelled.
    nonisolated(nonsending) func apply(_ image: DecodedImage) async throws -> DecodedImage
}

extension Transform {
    public var accepts: Phases { .decoded }

    public var produces: Phases { .decoded }

    public var identity: StageIdentity? { signature.flatMap { StageIdentity($0) } }

    /// Replaces the load's pixels with those that ``apply(_:)`` makes of them.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content else { return .skipped }
        load.advance(to: .decoded(try await apply(image)))
        return .done
    }
}
