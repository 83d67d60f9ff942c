import PipelineHTTP
public import FoundationEssentials
import HTTPTypes
public import Pipeline
import Synchronization

/// The everyday front: memory, disk and network behind one call.
///
/// ```swift
/// let loader = try ImageLoader()
/// let response = try await loader.load(url, options: .init(maxPixelSize: 640))
/// response.image      // the pixels, upright and in sRGB
/// ```
public final class ImageLoader: Sendable {
    /// The caches, the client and the time that all loads share.
    public let resources: PipelineResources
    /// The options of loads that are given none. A change holds for loads that begin after it.
    public var defaults: LoadOptions {
        get { areDefaultsChanged.load(ordering: .acquiring) ? changedDefaults.withLock { $0 } : firstDefaults }
        set {
            changedDefaults.withLock { $0 = newValue }
            areDefaultsChanged.store(true, ordering: .releasing)
        }
    }

    /// What is told of every load; nobody by default.
    public let observers: [any LoadObserver]

    /// The list that goes with a policy.
    public typealias Arrangement = @Sendable (CachePolicy, PipelineResources) -> ImagePipeline

    private let arrange: Arrangement
    private let firstDefaults: LoadOptions
    /// The list of the first defaults' policy.
    private let standard: ImagePipeline
    private let changedDefaults: Lock<LoadOptions>
    /// Asked instead of the lock, for which a memory hit has no time.
    private let areDefaultsChanged = Atomic<Bool>(false)
    /// The lists of other policies than the default. Delays are part of a policy, so there is no end to them.
    private let others = Lock(LeastRecentlyUsed<CachePolicy, ImagePipeline>())
    private static let maximumOthers = 16
    let isShutDown = Atomic<Bool>(false)
    let shutdownEnd = Completion()

    /// A loader with the defaults: 128 MB in memory, 1 GB in the user's cache folder, 50 megapixels, 64 MB a file.
    /// - Parameter defaults: the options of loads that are given none.
    /// - Throws: nothing now; a loader may come to need what a machine lacks.
    public convenience init(defaults: LoadOptions = LoadOptions()) throws {
        try self.init(cacheFolder: HTTPCache.defaultFolder, defaults: defaults)
    }

    /// A loader that caches in a folder of its own.
    /// - Parameters:
    ///   - cacheFolder: the folder's path; it is made when it is first needed, readable by its owner alone.
    ///   - diskByteLimit: the most that responses on disk may take, in bytes; 1 GB by default.
    ///   - memoryByteLimit: the most that images in memory may take, in bytes; 128 MB by default. They give way when memory
    ///     is short, see ``MemoryCache/init(byteLimit:countLimit:idleLimit:trimsUnderPressure:)``.
    ///   - allowedSources: the kinds of sources that are loaded; all by default. A program that takes sources from others
    ///     allows `.remote` alone.
    ///   - defaults: the options of loads that are given none.
    ///   - observers: what is told of every load; nobody by default.
    public convenience init(
        cacheFolder: String, diskByteLimit: Int = 1_000_000_000, memoryByteLimit: Int = 128_000_000,
        allowing allowedSources: ImageSource.Kinds = .all, defaults: LoadOptions = LoadOptions(),
        observers: [any LoadObserver] = []
    ) throws {
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: memoryByteLimit, trimsUnderPressure: true),
            responses: HTTPCache(folder: cacheFolder, byteLimit: diskByteLimit), client: CurlClient())
        resources.allowedSources = allowedSources
        self.init(resources, defaults: defaults, observers: observers)
    }

    /// A loader over resources of one's own.
    /// - Parameters:
    ///   - resources: what the stages stand on.
    ///   - defaults: the options of loads that are given none.
    ///   - observers: what is told of every load; nobody by default.
    ///   - arrangement: the list that goes with a policy; by default the policy's own. Edit it here to have a stage in
    ///     every load, those of a ``Prefetcher`` included. A policy's list that has no place for the edit stays as it is.
    public init(
        _ resources: PipelineResources, defaults: LoadOptions = LoadOptions(), observers: [any LoadObserver] = [],
        arrangement: @escaping Arrangement = { policy, resources in policy.pipeline(resources) }
    ) {
        self.resources = resources
        firstDefaults = defaults
        changedDefaults = Lock(defaults)
        self.observers = observers
        arrange = arrangement
        standard = arrangement(defaults.policy, resources)
    }

    /// Loads an image.
    /// - Parameters:
    ///   - url: an http, https, `file:` or `data:` URL.
    ///   - options: how this load differs; ``defaults`` if `nil`.
    /// - Throws: `LoadError`, with the trace; `CancellationError` if the task is cancelled.
    public func load(_ url: URL, options: LoadOptions? = nil) async throws -> ImageResponse {
        try await load(ImageSource(url), options: options)
    }

    /// Loads an image from any kind of source.
    /// - Throws: `LoadError`, with the trace; `CancellationError` if the task is cancelled.
    public func load(
        _ source: ImageSource, options: LoadOptions? = nil, events: (@Sendable (LoadEvent) -> Void)? = nil
    ) async throws -> ImageResponse {
        guard observers.isEmpty else { return try await observed(source, options, events) }
        // What stands here is held by every load that waits: no more than the load itself.
        var (chain, load) = try begin(source, options, events)
        do {
            try await chain.run(&load)
        } catch {
            throw load.traced(error)
        }
        return try image(of: load)
    }

    @inline(never)
    private func begin(
        _ source: ImageSource, _ options: LoadOptions?, _ events: (@Sendable (LoadEvent) -> Void)?
    ) throws -> (Chain, Load) {
        try check(source)
        if options == nil, !areDefaultsChanged.load(ordering: .relaxed), firstDefaults.timeout == nil {
            return (standard.chain, standard.begin(firstDefaults.request(for: source), events: events))
        }
        let options = options ?? defaults
        let pipeline = pipeline(for: options.policy)
        return (
            pipeline.chain.limited(to: options.timeout),
            pipeline.begin(options.request(for: source), events: events)
        )
    }

    @inline(never)
    private func image(of load: Load) throws -> ImageResponse {
        try ImageResponse(load.result(), of: load.request.source)
    }

    @inline(never)
    private func observed(
        _ source: ImageSource, _ options: LoadOptions?, _ events: (@Sendable (LoadEvent) -> Void)?
    ) async throws -> ImageResponse {
        try await ImageResponse(run(source, options ?? defaults, events: events), of: source)
    }

    /// Takes a source down the list of a policy, before the eyes of the observers.
    func run(
        _ source: ImageSource, _ options: LoadOptions, isPrefetch: Bool = false,
        events: (@Sendable (LoadEvent) -> Void)?
    ) async throws -> LoadResponse {
        try await run(
            pipeline(for: options.policy), options.request(for: source), timeout: options.timeout,
            isPrefetch: isPrefetch, events: events)
    }

    /// Takes a request down a list of one's own, such as one that ends in bytes, before the eyes of the ``observers``. What
    /// this loader doesn't load is refused.
    ///
    /// ```swift
    /// let webp = loader.pipeline(for: .standard).encoding(Encode(.webp), keptIn: loader.resources.responses)
    /// let bytes = try await loader.load(ImageRequest(url, maxPixelSize: 640), through: webp).encoded
    /// ```
    /// - Parameters:
    ///   - request: what is wanted; the ``defaults`` are not for it.
    ///   - pipeline: the list. Keep it: loads share what is under way through equal lists, and comparing lists takes time.
    ///   - events: is told what the load does while it runs, on whatever thread that is.
    /// - Throws: `LoadError`, with the trace; `CancellationError` if the task is cancelled.
    public func load(
        _ request: ImageRequest, through pipeline: ImagePipeline, events: (@Sendable (LoadEvent) -> Void)? = nil
    ) async throws -> LoadResponse {
        try await run(pipeline, request, timeout: nil, isPrefetch: false, events: events)
    }

    private func run(
        _ pipeline: ImagePipeline, _ request: ImageRequest, timeout: Duration?, isPrefetch: Bool,
        events: (@Sendable (LoadEvent) -> Void)?
    ) async throws -> LoadResponse {
        try check(request.source)
        let chain = pipeline.chain.limited(to: timeout)
        guard !observers.isEmpty else { return try await pipeline.begin(request, events: events).run(down: chain) }
        let observed = ObservedLoad(
            request, observers, credentials: resources.credentials, isPrefetch: isPrefetch, events: events)
        var load = pipeline.begin(request) { observed.take($0) }
        // Observers are told of images, and show none.
        if events == nil { load.showsImages = { false } }
        return try await observed.run { try await load.run(down: chain) }
    }

    /// Refuses what this loader doesn't load, whatever its arrangement.
    private func check(_ source: ImageSource) throws(LoadError) {
        try source.check(isAmong: resources.allowedSources)
        if isShutDown.load(ordering: .relaxed) { throw LoadError.shutDown(source.redacted) }
    }

    /// The list that loads with a policy walk down. Those of the 16 policies that were used last are kept.
    public func pipeline(for policy: CachePolicy) -> ImagePipeline {
        if policy == firstDefaults.policy { return standard }
        if let pipeline = others.withLock({ $0.use(policy, \.self) }) { return pipeline }
        // Outside the lock: the arrangement is the caller's, and may ask for another list here.
        HeldLocks.requireNone()
        let made = arrange(policy, resources)
        let (pipeline, _) = others.withLock { others -> (ImagePipeline, ImagePipeline?) in
            // All loads with a policy share one list.
            if let first = others.use(policy, \.self) { return (first, nil) }
            let evicted = others.count < Self.maximumOthers ? nil : others.removeOldest()
            _ = others.insert(made, for: policy)
            return (made, evicted)
        }
        return pipeline
    }
}
