import PipelineImages
public import Pipeline

/// Reports previews while its body fetches an image: the scans of a progressive JPEG, and a baseline JPEG or WebP as it
/// grows.
///
/// No policy includes it. Put it around `Fetch`; previews arrive as `LoadEvent.preview`:
///
/// ```swift
/// let loader = try ImageLoader(resources) { policy, resources in
///     policy.pipeline(resources).replacing(
///         Fetch.self, with: Preview { Fetch(resources.client) }, where: .present)
/// }
/// ```
///
/// With `where: .present`, policies without a `Fetch` stay as they are.
///
/// A preview fits the request's `maxPixelSize` approximately, like the result of `Decode`. One preview is decoded at a
/// time. The download never waits for it, and none is reported after the body has ended. Nothing is decoded unless
/// interim images are shown; see `Load.showsInterimImages`.
public struct Preview: CompositeStage {
    public var body: Chain
    private let codecs: ImageCodecs?
    private let limits: ImageLimits
    private let minimumBytes: Int
    private let budget: MemoryBudget
    private let threads: BlockingThreads

    package static func specification(_ codecs: ImageCodecs, _ limits: ImageLimits) -> StageSpecification {
        StageSpecification(
            composite: "preview", "Shows previews while an image is fetched.",
            .optional(
                "minimumBytes", .bytes, "The bytes before the first preview and between two.", default: 16_384,
                example: "4096")
        ) { Preview(codecs: codecs, limits: limits, minimumBytes: $1, $0) }
    }

    /// Wraps the stage that fetches.
    /// - Parameters:
    ///   - codecs: The formats that are decoded; by default those of the list, see `ImageCodecs`.
    ///   - limits: The limits of a preview, as for `Decode`. A preview beyond them is left out.
    ///   - minimumBytes: How many bytes must arrive before the first preview and between two previews; 16 KB by
    ///     default. Between two previews the download must also grow by a fifth.
    ///   - budget: The memory that all decodes with this budget may take together; by default 512 MB, shared by all.
    ///   - threads: The threads that decode; by default those shared by all stages, one for each core.
    ///   - body: The stage that fetches.
    public init(
        codecs: ImageCodecs? = nil, limits: ImageLimits = ImageLimits(), minimumBytes: Int = 16_384,
        budget: MemoryBudget = .decoding, threads: BlockingThreads = .decoding, @ChainBuilder _ body: () -> Chain
    ) {
        self.codecs = codecs
        self.limits = limits
        self.minimumBytes = max(1, minimumBytes)
        self.budget = budget
        self.threads = threads
        self.body = body()
    }

    public var identity: StageIdentity? {
        StageIdentity(
            "\(limits)", "\(minimumBytes), \(codecs != nil)", over: [budget, threads] + (codecs?.codecs ?? []))
    }

    /// Runs the body, and decodes previews of the bytes that arrive.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.isWatched else {
            try await body.run(&load)
            return .done
        }
        // A preview that takes long is left out, and the image itself keeps all of its time.
        let time = WorkTime(limit: limits.time, clock: load.clock)
        let arriving = ArrivingBytes(every: minimumBytes) {
            [
                self, codecs = codecs ?? load.codecs, box = load.request.maxPixelSize,
                partition = load.request.partition
            ] bytes, priority in
            let decoder = codecs.codec(of: bytes)?.decoder(serving: partition)
            return try await picture(of: bytes, decoder, box, priority, time)
        }
        load.attach(arriving)
        let result: Result<Void, any Error>
        do {
            try await body.run(&load)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        load.detach(ArrivingBytes.self)
        await arriving.end()
        try result.get()
        return .done
    }

    /// Decodes a preview of a file's first bytes; `nil` for a format that shows nothing before it is complete.
    /// - Throws: errors of ``Decode``.
    func picture(
        of bytes: [UInt8], _ decoder: (any ImageDecoding)?, _ box: PixelSize?, _ priority: LoadPriority,
        _ time: WorkTime
    ) async throws -> DecodedImage? {
        guard let decoder, decoder.showsBeginnings else { return nil }
        let work = DecodeWork(
            bytes: bytes, decoder: decoder, limits: limits,
            options: DecodeOptions(allowTruncated: true, quality: .fast), budget: budget, time: time,
            priority: priority, maxPixelSize: box)
        return try await work.run(on: threads).1
    }
}

extension Preview: CodecStage {
    package var ownCodecs: (any CodecSet)? { codecs }
}
