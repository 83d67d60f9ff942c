import PipelineImages
public import Pipeline

/// Reports pictures of what has arrived while its body fetches the rest: the scans of a progressive JPEG, and a baseline
/// JPEG or WebP as it grows.
///
/// No policy does so unless it is asked to. Put it around `Fetch`, and see `LoadEvent.preview`:
///
/// ```swift
/// let loader = ImageLoader(resources) { policy, resources in
///     policy.pipeline(resources).replacing(
///         Fetch.self, with: Preview { Fetch(resources.responses, resources.client) })
/// }
/// ```
///
/// The loader leaves alone the lists of policies that have no `Fetch`.
///
/// Previews fit the request's `maxPixelSize` about, as `Decode` gives it. At most one is decoded at a time, behind the
/// download, which never waits for it; there is none after the body has ended. None is decoded while nobody shows images:
/// see `Load.showsInterimImages`.
public struct Preview: CompositeStage {
    /// What fetches.
    public var body: Chain
    private let codecs: ImageCodecs
    private let limits: ImageLimits
    private let minimumBytes: Int
    private let budget: MemoryBudget
    private let threads: BlockingThreads

    /// Wraps the stage that fetches.
    /// - Parameters:
    ///   - codecs: The formats that are decoded; by default `ImageCodecs.standard`.
    ///   - limits: what a preview may cost, as for `Decode`. One that costs more is left out.
    ///   - minimumBytes: how much has to arrive before the first preview, and between two; 16 KB by default. As more
    ///     has arrived, a fifth more has to arrive for the next.
    ///   - budget: the memory that all decodes with this budget may take together; by default 512 MB, shared by all.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    ///   - body: the stage that fetches.
    public init(
        codecs: ImageCodecs = .standard, limits: ImageLimits = ImageLimits(), minimumBytes: Int = 16_384,
        budget: MemoryBudget = .decoding, threads: BlockingThreads = .decoding, @ChainBuilder _ body: () -> Chain
    ) {
        self.codecs = codecs
        self.limits = limits
        self.minimumBytes = max(1, minimumBytes)
        self.budget = budget
        self.threads = threads
        self.body = body()
    }

    /// Runs the body, with an eye on what arrives.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard load.isWatched else {
            try await body.run(&load)
            return .done
        }
        let arriving = ArrivingBytes(every: minimumBytes) {
            [self, box = load.request.maxPixelSize, clock = load.clock]
            bytes, priority in
            try await picture(of: bytes, box, priority, clock)
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

    /// A picture of the first bytes of a file; `nil` for a format that shows nothing before it is whole.
    /// - Throws: errors of ``Decode``.
    func picture(
        of bytes: [UInt8], _ box: PixelSize?, _ priority: LoadPriority, _ clock: any LoadClock
    ) async throws -> DecodedImage? {
        guard let decoder = codecs.codec(of: bytes)?.decoder, decoder.showsBeginnings else { return nil }
        let work = DecodeWork(
            bytes: bytes, decoder: decoder, limits: limits,
            options: DecodeOptions(allowTruncated: true, quality: .fast), budget: budget, clock: clock,
            priority: priority, maxPixelSize: box)
        return try await work.run(on: threads).1
    }
}
