import Pipeline

/// Begins a list with pixels that are at hand already.
struct Given: Stage {
    private let image: DecodedImage

    init(_ image: DecodedImage) { self.image = image }

    var accepts: Phases { .empty }
    var produces: Phases { .decoded }

    func run(_ load: inout Load) async throws -> Outcome {
        load.advance(to: .decoded(image), from: .inline)
        return .done
    }
}
