public import Pipeline

/// Checks that the source's bytes begin as an image does and that the image is within the limits, without decoding it.
///
/// A pipeline that passes files on undecoded uses it to keep anything else out of its cache.
public struct CheckHeader: Stage {
    public let accepts: Phases = .original
    public let produces: Phases = .original

    private let codecs: ImageCodecs?
    private let limits: ImageLimits
    private let threads: BlockingThreads

    package static func specification(_ codecs: ImageCodecs, _ limits: ImageLimits) -> StageSpecification {
        StageSpecification("checkHeader", "Refuses bytes that aren't an image, and images beyond the limits.") {
            CheckHeader(codecs: codecs, limits: limits)
        }
    }

    /// Makes the stage.
    /// - Parameters:
    ///   - codecs: The formats that are read; by default those of the list, see ``ImageCodecs``.
    ///   - limits: What an image may cost; by default 50 million pixels, 100,000 pixels a side, 64 million bytes, 30
    ///     seconds.
    ///   - threads: Where the work runs; by default threads shared by all stages, one for each core.
    public init(
        codecs: ImageCodecs? = nil, limits: ImageLimits = ImageLimits(), threads: BlockingThreads = .decoding
    ) {
        self.codecs = codecs
        self.limits = limits
        self.threads = threads
    }

    public var identity: StageIdentity? {
        StageIdentity("\(limits)", "\(codecs != nil)", over: [threads] + (codecs?.codecs ?? []))
    }

    /// Checks the bytes of a load.
    /// - Throws: `LoadError` with `undecodable` if the bytes aren't an image, `unsupportedType`, `tooManyBytes`,
    ///   `tooManyPixels` or `tooMuchTime`; `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        let header = try await load.header(limits: limits, codecs: codecs, threads: threads)
        try limits.check(header)
        load.note("\(header.format), \(header.size)")
        return .done
    }
}

extension CheckHeader: CodecStage {
    package var ownCodecs: (any CodecSet)? { codecs }
}
