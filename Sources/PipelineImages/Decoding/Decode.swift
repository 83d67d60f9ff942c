public import Pipeline

/// Turns the source's bytes into pixels: upright, in sRGB, no larger than the request's `maxPixelSize` makes necessary, with as many frames as the request or the limits say;
/// without one, no larger than the next stages of the list need, such as a ``Resize``, and of a picture that a ``Crop`` then
/// cuts only that part, where the format can be read in parts: JPEG, PNG, TIFF and WebP. Damage elsewhere in the file may
/// then go unseen.
///
/// The first bytes tell the format. The header is held against the limits before a pixel is decoded, and what the decode
/// will need against the memory that all decodes share: where it doesn't fit, it waits for others to end. `Downscale`, later
/// in the list, makes the size exact.
///
/// Where the load is cancelled, the work is over within some milliseconds. AVIF, HEIC and WebP may take longer, and the load
/// doesn't wait for them, nor once their time is over: a library ends on its thread what it has begun, and keeps its memory
/// until then.
///
/// - Throws: `LoadError.Code.unsupportedType` if the format is not among the chosen ones;
///   `LoadError.Code.tooManyBytes`, `LoadError.Code.tooManyPixels`, `LoadError.Code.tooMuchMemory` and
///   `LoadError.Code.tooMuchTime` above the limits;
///   `LoadError.Code.undecodable` if the bytes are damaged, cut off or no image; `CancellationError`.
public struct Decode: Stage, LookingAhead {
    /// Bytes of a source.
    public let accepts: Phases = .original
    /// Pixels.
    public let produces: Phases = .decoded

    /// What the later stages need; the pipeline sets it.
    public var ahead = PixelNeeds()

    private let codecs: ImageCodecs
    private var limits: ImageLimits
    private var options: DecodeOptions
    private let budget: MemoryBudget
    private let threads: BlockingThreads

    /// Makes the stage.
    /// - Parameters:
    ///   - codecs: The formats that are decoded; by default ``ImageCodecs/standard``.
    ///   - limits: by default 50 million pixels, 100,000 pixels a side, 64 million bytes, 1 frame, 1 GB of memory, 30 seconds.
    ///   - quality: how near a reduced picture has to come to the best that can be made of the source:
    ///     ``DecodeQuality/quality``, the default, within 54 dB; ``DecodeQuality/fast`` within 46 dB, for less work.
    ///   - allowTruncated: whether a file that is cut off gives what can be read of it; by default it is an error.
    ///   - budget: the memory that all decodes with this budget may take together; by default 512 MB, shared by all.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(
        codecs: ImageCodecs = .standard, limits: ImageLimits = ImageLimits(), quality: DecodeQuality = .quality,
        allowTruncated: Bool = false, budget: MemoryBudget = .decoding, threads: BlockingThreads = .decoding
    ) {
        self.codecs = codecs
        self.limits = limits
        self.options = DecodeOptions(allowTruncated: allowTruncated, frames: limits.frames, quality: quality)
        self.budget = budget
        self.threads = threads
    }

    /// How many frames, at which quality, and whether damage is overlooked.
    public var signature: String? { "decode(\((["frames: \(options.frames)"] + choices).joined(separator: ", ")))" }

    /// What differs from the defaults.
    public var parameters: String {
        ((options.frames > 1 ? ["frames: \(options.frames)"] : []) + choices).joined(separator: ", ")
    }

    private var choices: [String] {
        (options.quality == .quality ? [] : ["\(options.quality)"]) + (options.allowTruncated ? ["truncated"] : [])
    }

    /// Whether a picture may be made of the thumbnail in its file.
    package var mayTakeThumbnail: Bool { options.quality == .fast }

    /// Decodes.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .original(let file) = load.content else { return .skipped }
        let work = try work(for: file, load.request, load.priority, load.clock)
        let (header, image) = try await work.run(on: threads)
        load.note("\(header.format), \(header.size)")
        var source = DecodedSource(file: file, format: header.format, timeLimit: limits.time)
        source.decoder = work.decoder
        load.attach(source)
        load.advance(to: .decoded(image))
        return .done
    }

    private func work(
        for file: EncodedImage, _ request: ImageRequest, _ priority: LoadPriority, _ clock: any LoadClock
    ) throws -> DecodeWork {
        var (limits, options) = (limits, options)
        if let frames = request.frames {
            options.frames = max(1, frames)
            limits.frames = options.frames
        }
        try limits.check(encodedBytes: file.bytes.count)
        let decoder = try codecs.readableCodec(of: file.bytes, declaredType: file.declaredType).decoder
        return DecodeWork(
            bytes: file.bytes, decoder: decoder, limits: limits, options: options, budget: budget, clock: clock,
            priority: priority, maxPixelSize: request.maxPixelSize, ahead: ahead)
    }

    /// How many frames of an animation are decoded at most.
    package var frames: Int { limits.frames }

    /// The same for as many frames of a load's animation as the limits of pixels and memory allow, with the time that they
    /// take.
    package func keepingFrames(of load: Load) async -> Decode {
        guard limits.frames > 1, let header = await keeping(frames: 1).estimatedMemory(of: load)?.header else {
            return self
        }
        let area = max(1, header.storedSize.bytes(1), header.codedSize.bytes(1))
        var decode = keeping(frames: min(header.frames, limits.frames, limits.pixels / area))
        while decode.frames > 1, await decode.estimatedMemory(of: load) == nil {
            decode = keeping(frames: decode.frames / 2)
        }
        return decode
    }

    private func keeping(frames: Int) -> Decode {
        var decode = self
        decode.limits.frames = max(1, frames)
        decode.options.frames = decode.limits.frames
        decode.limits.time = limits.time.map { $0 * min(20, decode.limits.frames) }
        return decode
    }

    /// The header of a load's file, the bytes that this stage needs at its peak for it, and those of the picture that it
    /// makes; `nil` for a file that it refuses.
    package func estimatedMemory(of load: Load) async -> (header: ImageHeader, peak: Int, picture: Int)? {
        guard case .original(let file) = load.content,
            let work = try? work(for: file, load.request, load.priority, load.clock)
        else { return nil }
        return try? await work.estimate(on: threads)
    }
}
