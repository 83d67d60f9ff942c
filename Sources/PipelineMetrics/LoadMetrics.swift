public import Metrics
import Pipeline
public import Stages

/// Counts and times the loads of an `ImageLoader` with swift-metrics.
///
/// ```swift
/// let loader = ImageLoader(resources, observers: [LoadMetrics(resources)])
/// ```
///
/// - `pipeline_loads`: loads that ended; dimension `outcome`: `delivered`, `failed` or `cancelled`
/// - `pipeline_hits`: images that a cache had; dimension `source`: `memory`, `disk`, or the `LoadSource` that a cache of
///   your own gives
/// - `pipeline_misses`: requests to origins, by whatever stage, and files whose bytes were read
/// - `pipeline_received_bytes`: bytes of bodies that were downloaded
/// - `pipeline_prefetched`: images that a `Prefetcher` loaded and that were not in memory before
/// - `pipeline_prefetches_used`: images that a load asked for after their prefetch; dimension `size`: `same`, or `other`
///   where only the download was of use. The others were prefetched for nothing, so far. Told for the last 10,000
///   images prefetched.
/// - `pipeline_wasted_downloads`, `pipeline_wasted_bytes`: downloads that were cancelled after a part of the body had
///   arrived, and the bytes of these parts
/// - `pipeline_load_seconds`, `pipeline_stage_seconds`: how long loads and stages took; dimension `stage`. Work that
///   loads share counts in the times of each of them.
/// - `pipeline_in_flight`, `pipeline_queue_depth`: loads in flight, and decodes that wait for a thread, measured when a
///   load starts and ends
/// - `pipeline_confined`: 1 if all formats are decoded in fully confined processes, else 0; measured once the first has
///   been started
public final class LoadMetrics: LoadObserver {
    private let resources: PipelineResources
    private let threads: BlockingThreads
    private let prefix: String
    private let factory: any MetricsFactory
    private let stageTimers = Lock<[String: Timer]>([:])

    private let delivered, failed, cancelled, memoryHits, diskHits, misses, bytes: Counter
    private let prefetched, usedPrefetches, otherSizes, wastedDownloads, wastedBytes: Counter
    private let loadTimer: Timer
    private let inFlight, queueDepth, confined: Gauge
    private let codecs: ImageCodecs

    /// Measures loads over `resources`.
    /// - Parameters:
    ///   - resources: the resources whose loads in flight are counted.
    ///   - threads: the threads whose queue is measured; by default those that decode.
    ///   - prefix: the prefix of the labels; `pipeline` by default.
    ///   - factory: makes the metrics; by default the factory that the program has set up.
    public init(
        _ resources: PipelineResources, threads: BlockingThreads = .decoding, prefix: String = "pipeline",
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.resources = resources
        self.threads = threads
        self.prefix = prefix
        self.factory = factory
        delivered = Counter(label: "\(prefix)_loads", dimensions: [("outcome", "delivered")], factory: factory)
        failed = Counter(label: "\(prefix)_loads", dimensions: [("outcome", "failed")], factory: factory)
        cancelled = Counter(label: "\(prefix)_loads", dimensions: [("outcome", "cancelled")], factory: factory)
        memoryHits = Counter(label: "\(prefix)_hits", dimensions: [("source", "memory")], factory: factory)
        diskHits = Counter(label: "\(prefix)_hits", dimensions: [("source", "disk")], factory: factory)
        misses = Counter(label: "\(prefix)_misses", factory: factory)
        bytes = Counter(label: "\(prefix)_received_bytes", factory: factory)
        prefetched = Counter(label: "\(prefix)_prefetched", factory: factory)
        let used = "\(prefix)_prefetches_used"
        usedPrefetches = Counter(label: used, dimensions: [("size", "same")], factory: factory)
        otherSizes = Counter(label: used, dimensions: [("size", "other")], factory: factory)
        wastedDownloads = Counter(label: "\(prefix)_wasted_downloads", factory: factory)
        wastedBytes = Counter(label: "\(prefix)_wasted_bytes", factory: factory)
        loadTimer = Timer(label: "\(prefix)_load_seconds", factory: factory)
        inFlight = Gauge(label: "\(prefix)_in_flight", factory: factory)
        queueDepth = Gauge(label: "\(prefix)_queue_depth", factory: factory)
        confined = Gauge(label: "\(prefix)_confined", factory: factory)
        codecs = resources.codecs
    }

    /// Counts and times an event.
    public func observe(_ observation: LoadObservation) {
        switch observation.event {
        case .started: sample()
        case .cacheHit(let source): hits(from: source).increment()
        case .downloadStarted: misses.increment()
        case .alreadyLoading, .stored: break
        case .cancelled:
            end(cancelled, nil)
            if observation.wastedBytes > 0 {
                wastedDownloads.increment()
                wastedBytes.increment(by: observation.wastedBytes)
            }
        case .failed(let error):
            end(failed, (error as? LoadError)?.trace)
            recordConfinement()
        case .delivered(let response):
            end(delivered, response.trace)
            if response.source == .file { misses.increment() }
            // It changes with decodes alone, and asking all codecs takes long next to a hit in memory.
            if response.source != .memory { recordConfinement() }
            if observation.isPrefetch, response.source != .memory { prefetched.increment() }
            switch observation.prefetchUse {
            case .used: usedPrefetches.increment()
            case .otherSize: otherSizes.increment()
            case nil: break
            }
        }
    }

    private func hits(from source: LoadSource) -> Counter {
        switch source {
        case .memory: memoryHits
        case .disk: diskHits
        // Rare: a cache of the program's own. The factory gives the same metric for the same label.
        default: Counter(label: "\(prefix)_hits", dimensions: [("source", source.rawValue)], factory: factory)
        }
    }

    private func end(_ outcome: Counter, _ trace: Trace?) {
        outcome.increment()
        sample()
        guard let trace else { return }
        var end: Int64 = 0
        // A load that joined another has that load's fetch in its own trace too.
        let isShared = trace.entries.contains { $0.fact == .joined }
        for entry in trace.entries {
            end = max(end, entry.startNanoseconds + entry.nanoseconds)
            timer(entry.stage).recordNanoseconds(entry.nanoseconds)
            if !isShared, entry.source == .network, let count = entry.bytes { bytes.increment(by: count) }
        }
        loadTimer.recordNanoseconds(end)
    }

    private func sample() {
        inFlight.record(resources.flights.count)
        queueDepth.record(threads.waiting)
    }

    private func recordConfinement() {
        if let isConfined = codecs.areFullyConfined { confined.record(isConfined ? 1 : 0) }
    }

    private func timer(_ stage: String) -> Timer {
        if let timer = stageTimers.withLock({ $0[stage] }) { return timer }
        // Made outside the lock: the factory is the program's.
        let timer = Timer(label: "\(prefix)_stage_seconds", dimensions: [("stage", stage)], factory: factory)
        return stageTimers.withLock { timers in
            if let first = timers[stage] { return first }
            timers[stage] = timer
            return timer
        }
    }
}
