import PipelineHTTP
public import Essentials
import HTTPTypes
public import Pipeline
import Synchronization

/// Loads images from memory, disk or network with one call.
///
/// ```swift
/// let loader = try ImageLoader()
/// let response = try await loader.load(url, options: .init(maxPixelSize: 640))
/// response.image      // the pixels, upright and in sRGB
/// ```
public final class ImageLoader: Sendable {
    /// The caches, the client and the time that all loads share.
    public let resources: PipelineResources
    /// The options of loads without their own. A change applies to loads that begin after it.
    public var defaults: LoadOptions {
        get { areDefaultsChanged.load(ordering: .acquiring) ? changedDefaults.withLock { $0 } : firstDefaults }
        set {
            changedDefaults.withLock { $0 = newValue }
            areDefaultsChanged.store(true, ordering: .releasing)
        }
    }

    /// The observers of every load; none by default.
    let observers: [any LoadObserver]

    /// Returns the pipeline for a policy.
    public typealias Arrangement = @Sendable (CachePolicy, PipelineResources) -> ImagePipeline

    private let arrange: Arrangement
    private let codecs: ListCodecs
    private let firstDefaults: LoadOptions
    /// The pipeline of the first defaults' policy.
    private let standard: ImagePipeline
    private let changedDefaults: Lock<LoadOptions>
    /// Read instead of taking the lock, which would slow down memory hits.
    private let areDefaultsChanged = Atomic<Bool>(false)
    /// The pipelines of policies other than the default. Their number is unbounded, since delays are part of a policy.
    private let others = Lock(LeastRecentlyUsed<CachePolicy, ImagePipeline>())
    private static let maximumOthers = 16
    /// For the observers; empty without any.
    let prefetched = PrefetchedImages()
    let isShutDown = Atomic<Bool>(false)
    let shutdownEnd = Completion()

    /// Makes a loader over resources of your own.
    /// - Parameters:
    ///   - resources: The caches, the client and the clock that the stages use.
    ///   - defaults: The options of loads without their own.
    ///   - observers: The observers of every load; none by default.
    public convenience init(
        _ resources: PipelineResources, defaults: LoadOptions = LoadOptions(), observers: [any LoadObserver] = []
    ) {
        self.init(trusting: { policy, resources in policy.pipeline(resources) }, resources, defaults, observers)
    }

    /// Makes a loader over resources and lists of your own.
    ///
    /// ```swift
    /// let loader = try ImageLoader(resources) { policy, resources in
    ///     policy.pipeline(resources).inserting(RefuseHost(host: "tracker.example"), at: .beforeOrigin)
    /// }
    /// ```
    /// - Parameters:
    ///   - resources: The caches, the client and the clock that the stages use.
    ///   - defaults: The options of loads without their own.
    ///   - observers: The observers of every load; none by default.
    ///   - arrangement: Returns the pipeline for a policy. Edit the policy's own here to have a stage in every load,
    ///     including those of a ``Prefetcher``. It is called once for each policy without delays before this returns.
    /// - Throws: `LoadError.Code.stageContract` if an edit finds no place in the list of a policy, unless it says
    ///   `where: .present`, or if a stage of a list can never run. In a list made later, for a policy with delays, such a
    ///   mistake fails every load.
    public convenience init(
        _ resources: PipelineResources, defaults: LoadOptions = LoadOptions(), observers: [any LoadObserver] = [],
        arrangement: @escaping Arrangement
    ) throws(LoadError) {
        try CachePolicy.check(arrangement, resources, besides: defaults.policy)
        self.init(trusting: arrangement, resources, defaults, observers)
    }

    private init(
        trusting arrangement: @escaping Arrangement, _ resources: PipelineResources, _ defaults: LoadOptions,
        _ observers: [any LoadObserver]
    ) {
        self.resources = resources
        firstDefaults = defaults
        changedDefaults = Lock(defaults)
        self.observers = observers
        arrange = arrangement
        codecs = ListCodecs(resources.codecs)
        standard = arrangement(defaults.policy, resources).inLoader(with: codecs)
    }

    /// Loads an image.
    /// - Parameters:
    ///   - url: An http, https, `file:` or `data:` URL.
    ///   - options: The load's options; ``defaults`` if `nil`.
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
        // Every waiting load holds this frame, so it contains no more than the load itself.
        var chain = standard.chain
        var load = try begin(source, options, events, down: &chain)
        do {
            try await chain.run(&load)
        } catch {
            throw load.traced(error)
        }
        return try image(of: load)
    }

    /// Loads an image for a task, whose record gets the events and the result. Each waiting load holds this frame too.
    func load(_ source: ImageSource, _ options: LoadOptions?, into record: ImageTaskRecord) async {
        guard observers.isEmpty else { return await observed(source, options, record) }
        do {
            var chain = standard.chain
            var load = try begin(source, options, { record.take($0) }, down: &chain)
            do {
                try await chain.run(&load)
                end(load, record)
            } catch {
                record.fail(load.traced(error))
            }
        } catch {
            record.fail(error)
        }
    }

    @inline(never)
    private func end(_ load: Load, _ record: ImageTaskRecord) { record.end(Result { try image(of: load) }) }

    /// Makes a load, and replaces the standard list by the one that it goes down.
    @inline(never)
    private func begin(
        _ source: ImageSource, _ options: LoadOptions?, _ events: (@Sendable (LoadEvent) -> Void)?,
        down chain: inout Chain
    ) throws -> Load {
        try check(source)
        if options == nil, !areDefaultsChanged.load(ordering: .relaxed), firstDefaults.timeout == nil {
            return try standard.begin(firstDefaults.request(for: source), events: events)
        }
        let options = options ?? defaults
        let pipeline = pipeline(for: options.policy)
        chain = pipeline.chain.limited(to: options.timeout)
        return try pipeline.begin(options.request(for: source), events: events)
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

    @inline(never)
    private func observed(_ source: ImageSource, _ options: LoadOptions?, _ record: ImageTaskRecord) async {
        do {
            record.end(.success(try await observed(source, options) { record.take($0) }))
        } catch {
            record.fail(error)
        }
    }

    /// Loads a source through a policy's pipeline, and tells the observers.
    func run(
        _ source: ImageSource, _ options: LoadOptions, isPrefetch: Bool = false,
        events: (@Sendable (LoadEvent) -> Void)?
    ) async throws -> LoadResponse {
        try await run(
            pipeline(for: options.policy), options.request(for: source), timeout: options.timeout,
            isPrefetch: isPrefetch, events: events)
    }

    /// Loads a request through a pipeline of your own, such as one that ends in bytes. The observers are told, and
    /// sources that this loader doesn't allow are refused. Stages that were made without codecs use the loader's.
    ///
    /// ```swift
    /// let webp = loader.pipeline(for: .standard).encoding(Encode(.webp), keptIn: loader.resources.responses)
    /// let bytes = try await loader.load(ImageRequest(url, maxPixelSize: 640), through: webp).encoded
    /// ```
    /// - Parameters:
    ///   - request: The request. The ``defaults`` don't apply to it.
    ///   - pipeline: The pipeline. Keep it for later loads: only loads with equal lists share work, and comparing lists
    ///     takes time.
    ///   - events: Receives the load's events while it runs, on any thread.
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
        guard !observers.isEmpty else {
            return try await pipeline.begin(request, in: codecs, events: events).run(down: chain)
        }
        let observed = ObservedLoad(request, self, isPrefetch: isPrefetch, events: events)
        var load = try pipeline.begin(request, in: codecs) { observed.take($0) }
        // Observers are told about images but don't show them.
        if events == nil { load.showsImages = { false } }
        return try await observed.run { try await load.run(down: chain) }
    }

    /// Throws if this loader doesn't allow the source or was shut down.
    private func check(_ source: ImageSource) throws(LoadError) {
        try source.check(isAmong: resources.allowedSources)
        if isShutDown.load(ordering: .relaxed) { throw LoadError.shutDown(source.redacted) }
    }

    /// Returns the pipeline of loads with a policy. The pipelines of the 16 most recently used policies are kept.
    public func pipeline(for policy: CachePolicy) -> ImagePipeline {
        if policy == firstDefaults.policy { return standard }
        if let pipeline = others.withLock({ $0.use(policy, \.self) }) { return pipeline }
        // Outside the lock: the arrangement is the caller's, and may ask for another list here.
        HeldLocks.requireNone()
        let made = arrange(policy, resources).inLoader(with: codecs)
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
