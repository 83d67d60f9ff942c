package import Pipeline

/// Starts a list with decoded pixels.
package struct Given: Stage {
    private let image: DecodedImage

    package init(_ image: DecodedImage) { self.image = image }

    package var accepts: Phases { .empty }
    package var produces: Phases { .decoded }

    package func run(_ load: inout Load) async throws -> Outcome {
        load.advance(to: .decoded(image), from: .inline)
        return .done
    }
}
