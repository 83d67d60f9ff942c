public import Pipeline

/// Turns pixels into the bytes of an image file.
///
/// Pixels that have stayed in the source's colours are described by a profile of a few hundred bytes, or by numbers in AVIF
/// and PNG, and converted to sRGB for a format that can't say which colours they are. See `Gamut`.
///
/// JPEG has no transparency, so it is written over white. AVIF, GIF, PNG and WebP keep all frames of an animation with
/// their delays; other formats get the first. Metadata is written only if ``EncodeOptions/metadata`` asks for it.
///
/// The work counts towards the time limit of the list's `Decode`, as that of all other stages does. Cancelling the load
/// stops it within milliseconds. AVIF, PNG and WebP may take longer: the load ends at once, as it does when its time is
/// up, while libaom, libdeflate or libwebp finishes on its thread and keeps its memory until then. See
/// ``EncodeOptions/WebP-swift.struct``.
///
/// - Throws: `LoadError.Code.unencodable` if there is no encoder for the format, an option is out of its range, the
///   picture is too large for the format, or no quality fits ``EncodeOptions/maxBytes``;
///   `LoadError.Code.unsupportedLayout` unless the pixels have 8 bits a channel; `LoadError.Code.tooMuchTime` above the time
///   limit of the list's `Decode`; `CancellationError`.
public struct Encode: Stage, ColorKeeping {
    public let accepts: Phases = .decoded
    public let produces: Phases = .encoded

    private enum Target: Sendable {
        case format(ImageFormat)
        /// The format is chosen for each picture.
        case accepted(AcceptedFormats)
    }

    private let target: Target
    /// The format; `nil` if it is chosen for each picture.
    package var format: ImageFormat? { if case .format(let format) = target { format } else { nil } }
    /// How the file is written.
    public let options: EncodeOptions
    /// The codecs that the stage was made with.
    private let given: ImageCodecs?
    /// These, or those of the list and the standard ones for formats that the list lacks.
    package private(set) var codecs: ImageCodecs
    private let threads: BlockingThreads

    package static func specification(_ codecs: ImageCodecs) -> StageSpecification {
        let formats = codecs.codecs.filter { $0.encoder != nil && !$0.extensions.isEmpty }
        return StageSpecification(
            "encode", "Turns pixels into the result's bytes.", example: "webp:75",
            .required("format", .choice(formats, word: \.extensions[0]), "The format.", example: "webp"),
            .optional("quality", .integer(1...100), "From 1, small, to 100, faithful.", default: 80, example: "75"),
            .optional("maxBytes", .bytes, "Lowers the quality until the file has no more bytes.", example: "50000"),
            .optional(
                "metadata", .choice(KeptMetadata.allCases, word: \.rawValue),
                "The part of the source's metadata to keep.", default: .none),
            .optional("lossless", .flag, "Writes without loss.", default: false),
            .optional("progressive", .flag, "Writes so that it shows coarsely first.", default: false),
            .optional("effort", .integer(0...9), "How hard the encoder tries to be small.", example: "4")
        ) {
            var options = EncodeOptions(quality: $1, maxBytes: $2, metadata: $3)
            options.set(SharedEncodeOptions(lossless: $4, progressive: $5, effort: $6), for: codecs)
            return Encode($0.format, options: options, codecs: codecs)
        }
    }

    /// Makes the stage.
    /// - Parameters:
    ///   - format: JPEG, PNG, WebP, AVIF, GIF or TIFF, or another that `codecs` can write.
    ///   - quality: From 1, small, to 100, faithful; 80 by default. Values out of range are clamped. It has no effect
    ///     on PNG, GIF and TIFF.
    ///   - codecs: The formats' encoders; by default those of the list, and of ``ImageCodecs/standard`` for formats that
    ///     it lacks.
    ///   - threads: Where the work runs; by default threads shared by all stages, one for each core.
    public init(
        _ format: ImageFormat, quality: Int = 80, codecs: ImageCodecs? = nil, threads: BlockingThreads = .decoding
    ) {
        let options = EncodeOptions(quality: min(100, max(1, quality)))
        self.init(format, options: options, codecs: codecs, threads: threads)
    }

    /// Makes the stage with options.
    /// - Parameters:
    ///   - format: JPEG, PNG, WebP, AVIF, GIF or TIFF, or another that `codecs` can write.
    ///   - options: How the file is written; an option out of range fails the load.
    ///   - codecs: The formats' encoders; by default those of the list, and of ``ImageCodecs/standard`` for formats that
    ///     it lacks.
    ///   - threads: Where the work runs; by default threads shared by all stages, one for each core.
    public init(
        _ format: ImageFormat, options: EncodeOptions, codecs: ImageCodecs? = nil,
        threads: BlockingThreads = .decoding
    ) {
        target = .format(format)
        self.options = options
        given = codecs
        self.codecs = codecs ?? .standard
        self.threads = threads
    }

    /// Makes a stage that chooses the format: AVIF, WebP, JPEG, PNG or GIF, by what the client accepts and by whether
    /// the picture has transparency or motion.
    /// - Parameters:
    ///   - formats: What the client accepts.
    ///   - options: How each format is written.
    ///   - codecs: The formats' encoders; by default those of the list, and of ``ImageCodecs/standard`` for formats that
    ///     it lacks.
    ///   - threads: Where the work runs; by default threads shared by all stages, one for each core.
    public init(
        _ formats: AcceptedFormats, options: EncodeOptions = EncodeOptions(), codecs: ImageCodecs? = nil,
        threads: BlockingThreads = .decoding
    ) {
        target = .accepted(formats)
        self.options = options
        given = codecs
        self.codecs = codecs ?? .standard
        self.threads = threads
    }

    /// The format and its options.
    public var signature: String? {
        switch target {
        case .format(let format): return "encode(\(options.key(for: format, codecs)))"
        case .accepted(let accepted):
            let choices = accepted.choices.map { options.key(for: $0, codecs) }
            return "encode(\(parameters); \(choices.joined(separator: "; ")) of \(accepted))"
        }
    }

    public var parameters: String {
        switch target {
        case .format(let format): options.text(for: format, codecs)
        case .accepted(let accepted): "auto: \(accepted)"
        }
    }

    /// Whether a cancelled load leaves the work behind.
    var isLeft: Bool { holds { !$0.canBeStopped } }

    public var identity: StageIdentity? {
        StageIdentity(signature ?? "", "\(given != nil)", over: [threads] + (given?.codecs ?? []))
    }

    public var isIdempotent: Bool { true }

    /// Whether the format, or one of those to choose from, holds 16 bits a channel; likewise.
    public var keepsDepth: Bool { holds(\.holdsDepth) }

    /// Whether the format, or one of those to choose from, holds HDR. If another is chosen, the stage maps its tones. A
    /// palette doesn't hold it.
    public var keepsHDR: Bool { holds { $0.holdsHDR(options) } }

    /// Whether the format, or one of those to choose from, holds a gain map. If another is chosen, the stage drops it.
    public var keepsGainMap: Bool { holds(\.holdsGainMap) }

    /// Whether the format, or one of those to choose from, says which colours its numbers stand for. If another is chosen,
    /// the stage converts to sRGB.
    public var keepsColors: Bool { holds(\.holdsProfile) }

    /// Whether something is true of the encoder of the format, or of one of those to choose from.
    private func holds(_ property: (any ImageEncoding) -> Bool) -> Bool {
        let formats =
            switch target {
            case .format(let format): [format]
            // The last resort needn't be an accepted one.
            case .accepted(let accepted): accepted.choices
            }
        return formats.contains { codecs.codec(for: $0)?.encoder.map(property) ?? false }
    }

    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content else { return .skipped }
        let (target, options, codecs, readable) = (target, options, codecs, given ?? load.codecs)
        let source = load.attachment(DecodedSource.self)
        try options.check(codecs)
        let result = try await load.work(with: image.size, of: image, on: threads, isLeft: isLeft) { cancellation in
            let format =
                switch target {
                case .format(let format): format
                case .accepted(let accepted):
                    accepted.best(
                        hasAlpha: try image.hasTransparency(), isAnimated: image.isAnimated,
                        size: image.size)
                }
            var metadata =
                try source.map { try options.metadata.blocks(of: $0, readable, for: image, cancellation: cancellation) }
                ?? EmbeddedMetadata()
            let encoder = codecs.codec(for: format)?.encoder
            var numbers = try Self.described(image, encoder, options, &metadata, cancellation)
            numbers.gainMap = try Self.gainMap(of: numbers, encoder, cancellation)
            return try Self.encoded(
                numbers, format, options.resolved(for: format), codecs, metadata, cancellation)
        }
        if case .accepted = target { load.note(result.format.rawValue) }
        if image.layout.colorSpace.needsDepth, codecs.codec(for: result.format)?.encoder?.holdsHDR(options) != true {
            load.note("\(image.layout.colorSpace.name) becomes SDR, since \(result.format) doesn't hold HDR.")
        }
        if image.gainMap != nil, codecs.codec(for: result.format)?.encoder?.holdsGainMap != true {
            load.note("The HDR gain map is dropped, since \(result.format) doesn't hold one.")
        }
        if result.quality != options.resolved(for: result.format).quality { load.note("quality \(result.quality)") }
        load.advance(
            to: .encoded(
                EncodedImage(
                    bytes: result.bytes, declaredType: result.format.rawValue, size: image.size,
                    nativeSize: image.nativeSize)))
        load.detach(PixelMemory.self)
        return .done
    }

    private static func encoded(
        _ image: DecodedImage, _ format: ImageFormat, _ options: EncodeOptions, _ codecs: ImageCodecs,
        _ metadata: EmbeddedMetadata, _ cancellation: WorkCancellation
    ) throws -> (bytes: [UInt8], format: ImageFormat, quality: Int) {
        let encoder = try codecs.encoder(for: format)
        func encode(_ quality: Int) throws -> [UInt8] {
            try cancellation.check()
            var tried = options
            tried.quality = quality
            return try encoder.encode(image, as: format, tried, metadata: metadata, cancellation: cancellation)
        }
        guard let maxBytes = options.maxBytes else { return (try encode(options.quality), format, options.quality) }
        let search = QualitySearch(format: format, highest: options.quality, maxBytes: maxBytes)
        if encoder.fidelity(of: options) == .byQuality {
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

extension Encode: CodecStage {
    package var ownCodecs: (any CodecSet)? { given }
    package var decodes: Bool { false }

    package mutating func use(_ codecs: (any CodecSet)?) {
        guard given == nil else { return }
        self.codecs = (codecs as? ImageCodecs)?.withStandard ?? .standard
    }
}

extension DecodedImage {
    /// Whether any pixel of any frame is transparent or translucent.
    func hasTransparency() throws -> Bool {
        guard layout.hasAlpha else { return false }
        if layout.isDeep {
            return frames[0].bytes.withUnsafeBytes {
                $0.bindMemory(to: UInt16.self).enumerated().contains {
                    $0.offset % 4 == 3 && $0.element < 65535
                }
            }
        }
        let numbers = labelled(.sRGB)
        return try frames.indices.contains { frame in
            try numbers.withPixels(ofFrame: frame) { pixels in
                stride(from: 3, to: pixels.count, by: 4).contains { pixels[$0] < 255 }
            }
        }
    }
}
