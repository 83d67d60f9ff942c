/// A list of stages that turns a request into an image. A cache policy is an arrangement of the list.
///
/// ```swift
/// let pipeline = ImagePipeline {
///     ResolveIdentifier()
///     MemoryLookup(memory)
///     FollowRedirects {
///         Lookup(responses)
///         Fetch(client)
///         Decode()
///         Downscale()
///         Store(memory, responses)
///     }
/// }
/// let response = try await pipeline.load(ImageRequest(url))
/// ```
public struct ImagePipeline: Sendable {
    /// The stages.
    public let chain: Chain
    /// The clock that loads use.
    package let clock: any LoadClock
    /// The digest of what the stages do to the pixels: part of the key of every product of this list.
    public let signature: BLAKE2bDigest
    /// Whether the stages are written out in the program, so that a mistake in an edit ends it.
    let isWrittenOut: Bool
    /// The codecs of the stages, or else of the loader; `nil` if neither names any.
    let codecs: ListCodecs?
    /// The first stage that decodes by codecs of its own, and whether these are confined; `nil` if none does.
    let decoding: (stage: String, isConfined: Bool)?
    /// Which URLs the clients of the list may ask; `nil` if any.
    let urlRule: URLRule?
    /// The header fields that tell users apart, which the keys of loads include.
    private let credentials: CredentialFields
    /// The edits that found no place in the list, such as `inserting(Block, before: Lease)`.
    package let misplacedEdits: [String]

    /// Makes a pipeline of stages written one below the other.
    /// - Parameters:
    ///   - clock: The clock that loads use; by default that of the list's caches, or the system's if it has none.
    ///   - file: Named if the program ends.
    ///   - line: Named if the program ends.
    ///   - stages: The stages.
    /// - Precondition: each stage can run, and its caches go by the same clock. Where the list comes from a user, use
    ///   ``init(validating:clock:)``.
    public init(
        clock: (any LoadClock)? = nil, file: StaticString = #fileID, line: UInt = #line,
        @ChainBuilder _ stages: () -> Chain
    ) {
        self.init(writtenOut: stages(), clock: clock, file: file, line: line)
    }

    /// Makes a pipeline of a list that the programmer knows: a mistake in it ends the program.
    init(writtenOut chain: Chain, clock: (any LoadClock)?, file: StaticString, line: UInt) {
        let clock = clock ?? chain.cacheClock ?? SystemClock()
        if let problem = chain.problem ?? chain.problem(with: clock) {
            endProgram(overMistake: problem, file: file, line: line)
        }
        self.init(unchecked: chain, clock: clock, isWrittenOut: true)
    }

    /// Makes a pipeline of a list that was put together at run time.
    /// - Parameters:
    ///   - chain: The list.
    ///   - clock: The clock that loads use; by default that of the list's caches, or the system's if it has none.
    /// - Throws: ``LoadError/Code/stageContract`` if a stage of it can never run, or its cache goes by another clock.
    public init(validating chain: Chain, clock: (any LoadClock)? = nil) throws(LoadError) {
        let clock = clock ?? chain.cacheClock ?? SystemClock()
        if let problem = chain.problem ?? chain.problem(with: clock) {
            throw LoadError(.stageContract, subject: "", problem)
        }
        self.init(unchecked: chain, clock: clock, isWrittenOut: false)
    }

    /// Returns a pipeline of a list that is chosen at run time, such as a policy's. If a stage of it can never run or
    /// goes by another clock, or an edit found no place, each load fails.
    package static func arranged(
        _ chain: Chain, clock: any LoadClock, misplaced: [String] = []
    ) -> ImagePipeline {
        let misplacement = misplaced.first.map { "\($0) \(Self.isMisplaced) The list is:\n\(chain)" }
        guard let problem = misplacement ?? chain.problem ?? chain.problem(with: clock) else {
            return ImagePipeline(unchecked: chain, clock: clock, isWrittenOut: false)
        }
        return failing(with: problem, chain, clock: clock, misplaced: misplaced)
    }

    private static func failing(
        with problem: String, _ chain: Chain, clock: any LoadClock, misplaced: [String]
    ) -> ImagePipeline {
        let failing = Chain([Chain.Element(stage: InvalidList(problem: problem))] + chain.elements)
        return ImagePipeline(unchecked: failing, clock: clock, isWrittenOut: false, misplaced: misplaced)
    }

    /// Returns the same list, every load of which fails.
    func failing(with problem: String) -> ImagePipeline {
        .failing(with: "\(problem) The list is:\n\(chain)", chain, clock: clock, misplaced: misplacedEdits)
    }

    /// Returns the same list with codecs for the stages that were made without any.
    func with(_ codecs: ListCodecs) -> ImagePipeline {
        ImagePipeline(
            unchecked: chain, clock: clock, isWrittenOut: isWrittenOut, misplaced: misplacedEdits, codecs: codecs)
    }

    /// What is wrong with a misplaced edit, and the remedy.
    private static let isMisplaced =
        "finds no place, so the list would run without it. Name a stage that the list has, or a place such as "
        + ".beforeOrigin, or say where: .present if only some lists are meant."

    /// Why every load of this list fails; `nil` if it can run.
    package var problem: String? { (chain.stages.first as? InvalidList)?.problem }

    private init(
        unchecked chain: Chain, clock: any LoadClock, isWrittenOut: Bool, misplaced: [String] = [],
        codecs: ListCodecs? = nil
    ) {
        self.codecs = codecs ?? chain.codecs.map { ListCodecs($0) }
        decoding = chain.firstCodecs(where: \.decodes).flatMap { stage, set in set.isConfined.map { (stage, $0) } }
        let told = chain.using(self.codecs?.set)
        self.chain = told.lookingAhead()
        self.clock = clock
        self.isWrittenOut = isWrittenOut
        misplacedEdits = misplaced
        signature = told.signature
        (urlRule, credentials) = (told.urlRule, told.credentials)
    }

    /// Loads an image by taking its request down the list.
    /// - Parameters:
    ///   - request: the image to load.
    ///   - events: called with each event of the load while it runs, on any thread.
    /// - Throws: ``LoadError``, with the trace; ``LoadError/Code/notCached`` if no stage found anything;
    ///   `CancellationError` if the task is cancelled.
    public func load(
        _ request: consuming ImageRequest, events: (@Sendable (LoadEvent) -> Void)? = nil
    ) async throws -> LoadResponse {
        try await begin(request, events: events).run(down: chain)
    }

    /// Makes a load at the beginning of the list, for a caller that runs the ``chain`` itself.
    /// - Parameter codecs: Those of the loader.
    /// - Throws: ``LoadError/Code/invalidSize`` if the request's box has no pixels; ``LoadError/Code/stageContract`` if
    ///   only one of the list and the loader decodes in confined processes.
    package func begin(
        _ request: consuming ImageRequest, in codecs: ListCodecs? = nil, events: (@Sendable (LoadEvent) -> Void)?
    ) throws(LoadError) -> Load {
        // Chosen here and not among the arguments of the initializer, which would then make a copy of the load.
        let used = codecs.map { self.used(in: $0) } ?? self.codecs
        if let codecs, used !== codecs, let mixture = mixture(with: codecs) {
            throw LoadError(.stageContract, subject: request.source.redacted, mixture)
        }
        if let box = request.maxPixelSize, box.width < 1 || box.height < 1 {
            guard box.isBox else { throw .noBox(box, request.source) }
            request.maxPixelSize = box.withoutZero
        }
        return Load(
            request, clock: clock, list: signature, codecs: used, credentials: credentials, urlRule: urlRule,
            events: events)
    }
}

extension Load {
    /// Takes a load of ``ImagePipeline/begin(_:events:)`` down a list and returns its result.
    package consuming func run(down chain: Chain) async throws -> LoadResponse {
        var load = self
        do {
            try await chain.run(&load)
        } catch {
            throw load.traced(error)
        }
        return try load.result()
    }

    // Never inlined into a function that suspends: their locals would take up its frame for as long as the load waits.

    /// Returns the load's result.
    /// - Throws: ``LoadError/Code/notCached`` if no stage found anything.
    @inline(never)
    package func result() throws -> LoadResponse {
        guard let product = content.product, let source else { throw notCached }
        return LoadResponse(
            product: product, source: source, isStale: isStale, isFallback: isFallback, freshUntil: freshUntil,
            trace: recorder.trace,
            workTime: workTime, key: variantKey, facts: facts)
    }

    /// Returns the error that ended the load, with the trace.
    @inline(never)
    package func traced(_ error: any Error) -> any Error {
        guard var error = error as? LoadError else { return error }
        error.trace = recorder.trace
        return error
    }

    fileprivate var notCached: LoadError {
        let happened = recorder.trace.entries.isEmpty ? "the pipeline is an empty list" : recorder.trace.summary
        var error = LoadError(
            .notCached, subject: subject,
            "No image: \(happened). "
                + (expired.map { "\($0); use offline to accept it, or returnCacheElseLoad to have it confirmed." }
                    ?? "This pipeline has no stage that fetches it; use returnCacheElseLoad to allow downloads."))
        error.trace = recorder.trace
        return error
    }

    /// Why a cached image was not returned, such as `The image on disk expired 40 s ago`; `nil` if no cache has one.
    private var expired: String? {
        if case .stale(_, let freshness) = response {
            guard freshness.verdict == .expired, let remaining = freshness.remaining else {
                return "The image on disk has to be confirmed (\(freshness.verdict.rawValue))"
            }
            return "The image on disk expired \((.zero - remaining).secondsAgo)"
        }
        for case .expired(let duration)? in recorder.trace.entries.map(\.fact) {
            return "The image in memory expired \(duration.secondsAgo)"
        }
        return nil
    }
}

extension LoadError {
    // A view that isn't laid out yet asks for 0×0: as a box of 1×1, its image would be cached and shown.
    @inline(never)
    fileprivate static func noBox(_ box: PixelSize, _ source: ImageSource) -> LoadError {
        LoadError(
            .invalidSize, subject: source.redacted,
            "No image fits into \(box) pixels. Give each side 1 pixel or more, one side 0 for any length, or no size.")
    }
}

extension ImagePipeline: CustomStringConvertible {
    /// The list, one stage per line.
    public var description: String { chain.description }
}
