public import Pipeline

/// Turns pixels into the bytes of an image file, without any metadata.
///
/// JPEG has no transparency: what is transparent becomes white. GIF and WebP keep all frames of an animation, the others
/// get the first.
///
/// - Throws: `LoadError.Code.unencodable` if there is no encoder for the format, or the picture is too large
///   for it; `CancellationError`.
public struct Encode: Stage {
    /// Pixels.
    public let accepts: Phases = .decoded
    /// The result's bytes.
    public let produces: Phases = .encoded

    /// What is written.
    public let format: ImageFormat
    /// From 1, small, to 100, faithful.
    public let quality: Int
    private let threads: BlockingThreads

    /// Makes the stage.
    /// - Parameters:
    ///   - format: JPEG, PNG, WebP, AVIF, GIF or TIFF.
    ///   - quality: from 1, small, to 100, faithful; 80 by default. PNG, GIF and TIFF lose nothing whatever it is,
    ///     but GIF has only 256 colours a frame. What is out of range counts as its nearer end.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(_ format: ImageFormat, quality: Int = 80, threads: BlockingThreads = .decoding) {
        self.format = format
        self.quality = min(100, max(1, quality))
        self.threads = threads
    }

    /// Format and quality.
    public var signature: String? { "encode(\(parameters))" }

    /// Format and quality.
    public var parameters: String { "\(format), quality: \(quality)" }

    /// Encodes.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content else { return .skipped }
        let (format, quality) = (format, quality)
        do {
            let bytes = try await threads.run(priority: load.priority) { cancellation in
                format == .webp
                    ? try WebPEncoder(quality: quality).encode(image, cancellation: cancellation)
                    : try VipsEncoder(format: format, quality: quality).encode(image, cancellation: cancellation)
            }
            load.advance(
                to: .encoded(
                    EncodedImage(
                        bytes: bytes, declaredType: format.rawValue, size: image.size, nativeSize: image.nativeSize)))
            return .done
        } catch let error as LoadError {
            throw error.about(load.subject)
        }
    }
}
