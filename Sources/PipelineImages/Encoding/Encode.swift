public import Pipeline

/// Turns pixels into the bytes of an image file.
///
/// JPEG has no transparency: what is transparent becomes white. GIF and WebP keep all frames of an animation with their
/// delays; the others get the first. Metadata is written only where ``EncodeOptions/metadata`` asks for it.
///
/// Where the load is cancelled, the work is over within some milliseconds. AVIF may take longer, and the load waits for it.
/// WebP may take longer too: the load ends at once, and what libwebp has begun goes on without it. See
/// ``EncodeOptions/WebP-swift.struct``.
///
/// - Throws: `LoadError.Code.unencodable` if there is no encoder for the format, an option is out of its range, the
///   picture is too large for the format, or no quality fits ``EncodeOptions/maxBytes``;
///   `LoadError.Code.unsupportedLayout` unless the pixels are 8-bit sRGB; `LoadError.Code.tooMuchTime` above the time
///   limit of the list's `Decode`; `CancellationError`.
public struct Encode: Stage {
    /// Pixels.
    public let accepts: Phases = .decoded
    /// The result's bytes.
    public let produces: Phases = .encoded

    /// What is written; `nil` where ``accepted`` decides, picture by picture.
    public let format: ImageFormat?
    /// What the client accepts; `nil` where the format is settled.
    public let accepted: AcceptedFormats?
    /// How it is written.
    public let options: EncodeOptions
    private let threads: BlockingThreads

    /// Makes the stage.
    /// - Parameters:
    ///   - format: JPEG, PNG, WebP, AVIF, GIF or TIFF.
    ///   - quality: from 1, small, to 100, faithful; 80 by default. PNG, GIF and TIFF lose nothing whatever it is,
    ///     but GIF has only 256 colours a frame. What is out of range counts as its nearer end.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(_ format: ImageFormat, quality: Int = 80, threads: BlockingThreads = .decoding) {
        self.init(format, options: EncodeOptions(quality: min(100, max(1, quality))), threads: threads)
    }

    /// Makes the stage with options.
    /// - Parameters:
    ///   - format: JPEG, PNG, WebP, AVIF, GIF or TIFF.
    ///   - options: how it is written; an option that is out of range fails the load, see ``EncodeOptions/check()``.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(_ format: ImageFormat, options: EncodeOptions, threads: BlockingThreads = .decoding) {
        self.format = format
        self.accepted = nil
        self.options = options
        self.threads = threads
    }

    /// Makes a stage that chooses the format by what the client accepts and by whether the picture has transparency or
    /// motion: AVIF, WebP, JPEG, PNG or GIF.
    /// - Parameters:
    ///   - formats: what the client accepts.
    ///   - options: how each format is written.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(
        _ formats: AcceptedFormats, options: EncodeOptions = EncodeOptions(), threads: BlockingThreads = .decoding
    ) {
        self.format = nil
        self.accepted = formats
        self.options = options
        self.threads = threads
    }

    /// From 1, small, to 100, faithful.
    public var quality: Int { options.quality }

    /// Format and options.
    public var signature: String? {
        guard let accepted else { return "encode(\(parameters))" }
        return "encode(\(parameters); \(options.text(for: AcceptedFormats.candidates)) of \(accepted))"
    }

    /// Format and options, as far as these are not the defaults.
    public var parameters: String {
        if let accepted { return "auto: \(accepted)" }
        guard let format else { return "" }
        return "\(format), \(options.text(for: format))"
    }

    /// Whether a cancelled load doesn't wait for the work's end, which it does for all but WebP.
    var isLeft: Bool { accepted?.formats.contains(.webp) ?? (format == .webp) }

    /// Encodes.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content else { return .skipped }
        let (format, accepted, options) = (format, accepted, options)
        let source = options.metadata == .none ? nil : load.attachment(DecodedSource.self)
        try options.check()
        let limited = load.limitingTime
        let result = try await threads.run(priority: load.priority, isLeft: isLeft) { cancellation in
            let cancellation = limited(cancellation)
            let format =
                try accepted?.best(hasAlpha: image.hasTransparency(), isAnimated: image.isAnimated) ?? format ?? .jpeg
            let metadata = try source.map {
                try options.metadata.blocks(of: $0, for: image, cancellation: cancellation)
            }
            return try Self.encoded(
                image, format, options, metadata ?? EmbeddedMetadata(), cancellation: cancellation)
        }
        if accepted != nil { load.note(result.format.rawValue) }
        if result.quality != options.quality { load.note("quality \(result.quality)") }
        load.advance(
            to: .encoded(
                EncodedImage(
                    bytes: result.bytes, declaredType: result.format.rawValue, size: image.size,
                    nativeSize: image.nativeSize)))
        return .done
    }

    private static func encoded(
        _ image: DecodedImage, _ format: ImageFormat, _ options: EncodeOptions, _ metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> (bytes: [UInt8], format: ImageFormat, quality: Int) {
        let encoder = try options.encoder(for: format)
        func encode(_ quality: Int) throws -> [UInt8] {
            try encoder.encode(image, quality: quality, metadata: metadata, cancellation: cancellation)
        }
        guard let maxBytes = options.maxBytes else { return (try encode(options.quality), format, options.quality) }
        let search = QualitySearch(format: format, highest: options.quality, maxBytes: maxBytes)
        if options.isLossy(format) {
            let found = try search.run(encode)
            return (found.bytes, format, found.quality)
        }
        let bytes = try encode(options.quality)
        guard bytes.count <= maxBytes else {
            throw search.refusal(smallest: bytes.count, "and no quality that could be lowered")
        }
        return (bytes, format, options.quality)
    }
}

extension DecodedImage {
    /// Whether any pixel of any frame lets something shine through.
    func hasTransparency() throws -> Bool {
        guard layout.hasAlpha else { return false }
        return try frames.indices.contains { frame in
            try withPixels(ofFrame: frame) { pixels in
                stride(from: 3, to: pixels.count, by: 4).contains { pixels[$0] < 255 }
            }
        }
    }
}
