import Pipeline
import Stages

/// Encodes pixels in the format of the file that they come from, which a URL doesn't tell.
struct EncodeAsSource: Stage {
    let accepts: Phases = .decoded
    let produces: Phases = .encoded
    /// Makes the stage that encodes a format.
    let encode: @Sendable (ImageFormat) -> Encode

    var signature: String? { encode(Formats.standard).signature.map { "asSource(\($0))" } }

    func run(_ load: inout Load) async throws -> Outcome {
        let format = load.attachment(DecodedSource.self)?.format.ofResult ?? Formats.standard
        return try await encode(format).run(&load)
    }
}
