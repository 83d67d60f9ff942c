public import Pipeline

/// Decodes the source's bytes into upright pixels of 8 bits a channel.
///
/// They are sRGB's, unless the list ends in a file's bytes and all stages between keep colours: such pixels stay in Display
/// P3, Adobe RGB or the primaries of BT.2020, if the source says so. See `Gamut`. Likewise 16 bits a channel, HDR and gain
/// maps are kept; see `Depth` and `GainMapHandling`.
///
/// The picture is no larger than the request's `maxPixelSize` needs, with as many frames as the request or the limits
/// say. Without a `maxPixelSize`, it is no larger than later stages such as ``Resize`` need. If a ``Crop`` follows,
/// only that part is decoded where the format allows it: JPEG, PNG, TIFF and WebP. Damage elsewhere in the file may
/// then go unnoticed.
///
/// The format is recognized by the first bytes. The header is checked against the limits before a pixel is decoded. The
/// decode then waits until the memory it needs fits into the budget that all decodes share. `Downscale`, later in the
/// list, makes the size exact.
///
/// Cancelling the load stops the work within milliseconds. AVIF, HEIC and WebP may take longer: the load ends at once,
/// as it does when its time is up, but the library finishes on its thread and keeps its memory until then.
///
/// - Throws: `LoadError.Code.unsupportedType` if `codecs` lacks the format; `LoadError.Code.tooManyBytes`,
///   `LoadError.Code.tooManyPixels`, `LoadError.Code.tooMuchMemory` and `LoadError.Code.tooMuchTime` above the limits;
///   `LoadError.Code.undecodable` if the bytes are damaged, cut off or not an image; `CancellationError`.
public struct Decode: Stage, LookingAhead {
    public let accepts: Phases = .original
    public let produces: Phases = .decoded

    /// The pixels that later stages need; the pipeline sets it.
    public var ahead = PixelNeeds()

    let codecs: ImageCodecs?
    private(set) var limits: ImageLimits
    private var options: DecodeOptions
    let gamut: Gamut?
    let depth: Depth?
    let gainMap: GainMapHandling?
    private let budget: MemoryBudget
    let threads: BlockingThreads

    package static func specification(
        _ codecs: ImageCodecs, _ limits: ImageLimits, _ budget: MemoryBudget
    ) -> StageSpecification {
        StageSpecification(
            "decode", "Turns the source's bytes into pixels, no more than the next stages need.",
            .optional(
                "frames", .integer(1...10_000), "The most frames of an animation to decode.", default: limits.frames,
                example: "100"),
            .optional(
                "quality", .choice(DecodeQuality.allCases), "How close a reduced image comes to the best one.",
                default: .quality),
            .optional("allowTruncated", .flag, "Decodes what can be read of a truncated file.", default: false),
            .optional(
                "gamut", .choice(Gamut.allCases, word: \.rawValue),
                "The colours of the pixels; by default the source's, where the result can hold them.", example: "srgb"),
            .optional(
                "depth", .choice(Depth.allCases, word: \.rawValue),
                "The bits of a channel; by default the source's, where the result can hold them.", example: "8"),
            .optional(
                "gainMap", .choice(GainMapHandling.allCases, word: \.rawValue),
                "What becomes of an HDR gain map; by default it is kept, where the result can hold it.", example: "drop"
            )
        ) {
            var limits = limits
            limits.frames = $0
            return Decode(
                codecs: codecs, limits: limits, quality: $1, allowTruncated: $2, gamut: $3, depth: $4, gainMap: $5,
                budget: budget)
        }
    }

    /// Makes the stage.
    /// - Parameters:
    ///   - codecs: The formats that are decoded; by default those of the list, see ``ImageCodecs``.
    ///   - limits: What an image may cost; by default 50 million pixels, 100,000 pixels a side, 64 million bytes, 1
    ///     frame, 1 GB of memory, 30 seconds.
    ///   - quality: The quality of a reduced decode, compared with a full decode scaled with a Lanczos-3 kernel:
    ///     ``DecodeQuality/quality``, the default, within 54 dB; ``DecodeQuality/fast`` within 46 dB, for less work.
    ///   - allowTruncated: Whether a truncated file yields its readable part; by default it is an error.
    ///   - gamut: The colours of the pixels; `nil`, the default, for the source's in lists that end in bytes, and sRGB in
    ///     others. A request's own choice comes first.
    ///   - depth: The bits of a channel; `nil`, the default, for 16 of a source with more than 8 in lists that end in bytes
    ///     and can keep them, and 8 in others. A request's own choice comes first.
    ///   - gainMap: What becomes of a gain map; `nil`, the default, for keeping it in lists that end in bytes and can, and
    ///     dropping it in others. A request's own choice comes first.
    ///   - budget: The memory that all decodes with this budget share; by default a common budget of 512 MB.
    ///   - threads: Where the work runs; by default threads shared by all stages, one for each core.
    public init(
        codecs: ImageCodecs? = nil, limits: ImageLimits = ImageLimits(), quality: DecodeQuality = .quality,
        allowTruncated: Bool = false, gamut: Gamut? = nil, depth: Depth? = nil, gainMap: GainMapHandling? = nil,
        budget: MemoryBudget = .decoding, threads: BlockingThreads = .decoding
    ) {
        self.codecs = codecs
        (self.gamut, self.depth, self.gainMap) = (gamut, depth, gainMap)
        self.limits = limits
        self.options = DecodeOptions(allowTruncated: allowTruncated, frames: limits.frames, quality: quality)
        self.budget = budget
        self.threads = threads
    }

    /// Whether the pixels of a request stay at 16 bits a channel, if the decoder can make them.
    private func keepsDepth(_ request: ImageRequest) -> Bool {
        switch request.depth ?? depth {
        case .eight: false
        case .source: ahead.keepDepth
        case nil: ahead.endInBytes && ahead.keepDepth
        }
    }

    /// Whether HDR stays in the pixels of a request.
    private func keepsHDR(_ request: ImageRequest) -> Bool {
        keepsColors(request) && keepsDepth(request) && ahead.keepHDR
    }

    /// Whether the pixels of a request become HDR by a gain map.
    private func makesHDR(_ request: ImageRequest) -> Bool {
        (request.gainMap ?? gainMap) == .apply && ahead.keepHDR && (request.gamut ?? gamut) != .sRGB
            && (request.depth ?? depth) != .eight
    }

    /// Whether a list is to keep the gain map of a request, if its stages do.
    private func wantsGainMap(_ request: ImageRequest) -> Bool {
        switch request.gainMap ?? gainMap {
        case .drop, .apply: false
        case .keep: true
        case nil: ahead.endInBytes
        }
    }

    /// The number of frames, the quality, whether truncated files are allowed, the colours, the depth and the gain map.
    public var signature: String? { "decode(\((["frames: \(options.frames)"] + choices).joined(separator: ", ")))" }

    public var parameters: String {
        let isolated = codecs?.areIsolated == true ? ["isolated"] : []
        return ((options.frames > 1 ? ["frames: \(options.frames)"] : []) + choices + isolated)
            .joined(separator: ", ")
    }

    private var choices: [String] {
        (options.quality == .quality ? [] : ["\(options.quality)"]) + (options.allowTruncated ? ["truncated"] : [])
            + (gamut.map { ["gamut: \($0.rawValue)"] } ?? [])
            + (depth.map { ["depth: \($0.rawValue)"] } ?? [])
            + (gainMap.map { ["gain map: \($0.rawValue)"] } ?? [])
    }

    /// What the pixels of a request keep of the source, in words.
    package func kept(_ request: ImageRequest) -> String {
        [
            keepsColors(request) ? " in its colours" : "", keepsDepth(request) ? " and depth" : "",
            keepsHDR(request) ? " and HDR" : "", makesHDR(request) ? " with its gain map applied" : "",
            wantsGainMap(request) && ahead.keepGainMap ? " with its gain map" : "",
        ].joined()
    }

    /// Whether pixels of a request stay in their own colours, if they have some that a layout can name.
    private func keepsColors(_ request: ImageRequest) -> Bool {
        switch request.gamut ?? gamut {
        case .sRGB: false
        case .source: ahead.keepColors
        case nil: ahead.endInBytes && ahead.keepColors
        }
    }

    /// Unless the thumbnail in a file may be decoded in place of the picture.
    public var isIdempotent: Bool { options.quality != .fast }

    public var identity: StageIdentity? {
        StageIdentity(
            signature ?? "", "\(limits)", "\(codecs != nil)", over: [budget, threads] + (codecs?.codecs ?? []))
    }

    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content else { return .skipped }
        let time = load.time(within: limits.time)
        defer { load.workTime = time.used }
        let work = try work(for: file, load, time)
        let (header, image) = try await work.run(on: threads)
        let conversion = header.conversion.map { ", \($0)" } ?? ""
        load.note("\(header.format), \(header.size)\(conversion)\(header.losses.map { ". \($0)" } ?? "")")
        attachSource(to: &load, file, header, work.decoder)
        load.advance(to: .decoded(image))
        return .done
    }

    func attachSource(
        to load: inout Load, _ file: EncodedImage, _ header: ImageHeader, _ decoder: any ImageDecoding
    ) {
        var source = DecodedSource(file: file, format: header.format, timeLimit: limits.time)
        (source.decoder, source.budget) = (decoder, budget)
        load.attach(source)
    }

    func work(for file: EncodedImage, _ load: Load, _ time: WorkTime) throws -> DecodeWork {
        var (limits, options) = (limits, options)
        if let frames = load.request.frames {
            options.frames = max(1, frames)
            limits.frames = options.frames
        }
        options.keepsColors = keepsColors(load.request)
        options.keepsDepth = keepsDepth(load.request)
        options.keepsHDR = keepsHDR(load.request)
        options.makesHDR = makesHDR(load.request)
        if options.makesHDR { (options.keepsColors, options.keepsDepth) = (true, true) }
        if wantsGainMap(load.request) {
            options.stageDroppingGainMap = ahead.stageDroppingGainMap
            options.keepsGainMap = options.stageDroppingGainMap == nil
        } else if (load.request.gainMap ?? gainMap) == .apply {
            options.stageDroppingGainMap = ahead.stageLosingHDR
        }
        try limits.check(encodedBytes: file.bytes.count)
        let codec = try (codecs ?? load.codecs).readableCodec(of: file.bytes, declaredType: file.declaredType)
        var work = DecodeWork(
            bytes: file.bytes, decoder: codec.decoder(serving: load.request.partition), limits: limits,
            options: options, budget: budget, time: time, priority: load.priority,
            maxPixelSize: load.request.maxPixelSize, ahead: ahead)
        work.header = load.knownHeader(of: file, codec)
        work.held = load.attachment(MemoryClaim.self)
        return work
    }

    /// The most frames of an animation that are decoded.
    package var frames: Int { limits.frames }

    /// Returns a stage that decodes as many frames of a load's animation as the pixel and memory limits allow, with a
    /// time limit to match.
    package func keepingFrames(of load: inout Load) async -> Decode {
        guard limits.frames > 1, let header = await keeping(frames: 1).estimatedMemory(of: &load)?.header else {
            return self
        }
        let area = max(1, header.storedSize.bytes(1), header.codedSize.bytes(1))
        var decode = keeping(frames: min(header.frames, limits.frames, limits.pixels / area))
        while decode.frames > 1, await decode.estimatedMemory(of: &load) == nil {
            decode = keeping(frames: decode.frames / 2)
        }
        return decode
    }

    /// Returns a stage that decodes at most this many frames.
    package func keeping(frames: Int) -> Decode {
        var decode = self
        decode.limits.frames = max(1, frames)
        decode.options.frames = decode.limits.frames
        decode.limits.time = limits.time.map { $0 * min(20, decode.limits.frames) }
        return decode
    }

    /// Returns the header of a load's file, the peak memory of decoding it, and the size of the decoded picture, both
    /// in bytes; `nil` for a file that the stage refuses. The decode that follows doesn't read the header again.
    package func estimatedMemory(of load: inout Load) async -> (header: ImageHeader, peak: Int, picture: Int)? {
        guard case .original(let file) = load.content,
            let header = try? await load.header(limits: limits, codecs: codecs, threads: threads),
            let work = try? work(for: file, load, load.time(within: limits.time)),
            let (peak, picture) = try? work.estimate(header)
        else { return nil }
        return (header.keeping(work.options), peak, picture)
    }
}

extension Decode: CodecStage {
    package var ownCodecs: (any CodecSet)? { codecs }
}
