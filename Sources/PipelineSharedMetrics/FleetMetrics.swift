public import Metrics
public import PipelineShared

/// Counts and times what happens in the tier that the machines of a `Fleet` share, with swift-metrics.
///
/// ```swift
/// let fleet = Fleet(try RedisAddress("redis://cache.internal"), observers: [FleetMetrics()])
/// ```
///
/// - `pipeline_fleet_lookups`: lookups in the shared tier; dimension `outcome`: `hit` or `miss`
/// - `pipeline_fleet_stored`, `pipeline_fleet_stored_bytes`: responses and results that this machine has stored, and
///   their bytes
/// - `pipeline_fleet_leases`: leases that this machine got
/// - `pipeline_fleet_wait_seconds`: how long loads waited for the leases of other machines
/// - `pipeline_fleet_refused_commits`: responses and results that Redis refused, since their lease had ended or their URL
///   had become invalid
/// - `pipeline_fleet_refused_requests`: requests that Redis refused, such as those that the user may not send
/// - `pipeline_fleet_refused_reads`: objects that the bucket refused to read
/// - `pipeline_fleet_invalidations`: URLs and tags that became invalid, here or on another machine
/// - `pipeline_fleet_dropped_memory`: how often the memory tier was emptied, since invalidations may have been missed
/// - `pipeline_fleet_failures`: how often Redis or the bucket was given up for a while, or Redis had no memory left;
///   dimension `part`: `redis`, `messages`, `blobs` or `memory`
/// - `pipeline_fleet_behind_seconds`: for how long this machine hasn't heard what others remove; 0 while it hears
/// - `pipeline_fleet_latency_seconds`: the slowest reply of Redis in a second or more. Without requests it keeps its value.
/// - `pipeline_fleet_available`: 1 while the part is used, 0 while it isn't; the same dimension. A part that has never
///   failed has no value yet.
public final class FleetMetrics: FleetObserver {
    /// What can fail by itself.
    private enum Part: String, CaseIterable { case redis, messages, blobs, memory }

    private let hits, misses, stored, bytes, leases, refused, refusals, reads, invalidations, dropped: Counter
    private let waits: Timer
    private let behind, latency: Gauge
    private let failures: [Part: Counter]
    private let available: [Part: Gauge]

    /// Makes the metrics.
    /// - Parameters:
    ///   - prefix: The prefix of the labels; `pipeline` by default.
    ///   - factory: Makes the metrics; by default the factory that the program has set up.
    public init(prefix: String = "pipeline", factory: any MetricsFactory = MetricsSystem.factory) {
        func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: "\(prefix)_fleet_\(name)", dimensions: dimensions, factory: factory)
        }
        hits = counter("lookups", [("outcome", "hit")])
        misses = counter("lookups", [("outcome", "miss")])
        stored = counter("stored")
        bytes = counter("stored_bytes")
        leases = counter("leases")
        refused = counter("refused_commits")
        refusals = counter("refused_requests")
        reads = counter("refused_reads")
        invalidations = counter("invalidations")
        dropped = counter("dropped_memory")
        waits = Timer(label: "\(prefix)_fleet_wait_seconds", factory: factory)
        behind = Gauge(label: "\(prefix)_fleet_behind_seconds", factory: factory)
        latency = Gauge(label: "\(prefix)_fleet_latency_seconds", factory: factory)
        failures = Dictionary(
            uniqueKeysWithValues: Part.allCases.map { ($0, counter("failures", [("part", $0.rawValue)])) })
        available = Dictionary(
            uniqueKeysWithValues: Part.allCases.map {
                ($0, Gauge(label: "\(prefix)_fleet_available", dimensions: [("part", $0.rawValue)], factory: factory))
            })
    }

    /// Counts an event.
    public func observe(_ event: FleetEvent) {
        switch event {
        case .lookedUp(let isHit): (isHit ? hits : misses).increment()
        case .stored(let count):
            stored.increment()
            bytes.increment(by: count)
        case .leased: leases.increment()
        case .waited(let time): waits.recordNanoseconds(time.nanoseconds)
        case .behind(let time): behind.record(Double(time.nanoseconds) / 1e9)
        case .latency(let time): latency.record(Double(time.nanoseconds) / 1e9)
        case .commitRefused: refused.increment()
        case .invalidated: invalidations.increment()
        case .droppedMemory: dropped.increment()
        case .deaf:
            behind.record(0)
            change(.messages, isLost: true)
        case .listening:
            behind.record(0)
            change(.messages, isLost: false)
        case .refused: refusals.increment()
        case .blobsRefused: reads.increment()
        case .lost: change(.redis, isLost: true)
        case .restored: change(.redis, isLost: false)
        case .blobsLost: change(.blobs, isLost: true)
        case .blobsRestored: change(.blobs, isLost: false)
        case .full: change(.memory, isLost: true)
        case .hasRoom: change(.memory, isLost: false)
        }
    }

    private func change(_ part: Part, isLost: Bool) {
        if isLost { failures[part]?.increment() }
        available[part]?.record(isLost ? 0 : 1)
    }
}

extension Duration {
    /// The duration in nanoseconds.
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
