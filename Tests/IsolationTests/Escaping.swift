import Pipeline
import PipelineImages
import PipelineIsolation

/// The format whose files tell the helper `EscapingDecoder` what to do.
enum Escaping {
    static let format = ImageFormat(rawValue: "image/x-escape")

    /// All codecs, and the one of this format, in a pool of that helper.
    static func codecs(in pool: DecoderPool) throws -> ImageCodecs {
        let escaping = ImageCodec(format, extensions: ["escape"], decoder: AbsentDecoder()) {
            $0.starts(with: "escape ".utf8)
        }
        return try ImageCodecs.known.adding(escaping).isolated(in: pool)
    }

    /// A pool of one worker that lacks some measures.
    static func pool(without missing: Confinement) async throws -> DecoderPool {
        try await DecoderPool(
            workers: 1, confinement: .bestEffort, without: missing, helper: Corpus.helper("EscapingDecoder"))
    }

    /// Whether the program may call `clone`: ThreadSanitizer's own stands still once the kernel's has failed.
    static var canClone: Bool {
        #if SANITIZE
        false
        #else
        true
        #endif
    }

    static func file(_ text: String) -> [UInt8] { Array("escape \(text)".utf8) }
}

/// Never called: the pool's decoder takes its place.
struct AbsentDecoder: ImageDecoding {
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader { throw CancellationError() }

    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage { throw CancellationError() }
}
