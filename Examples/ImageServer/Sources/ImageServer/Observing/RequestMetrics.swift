import Metrics
import Synchronization

/// Counts and times requests, by the first component of their path and by their outcome. It keeps the handles of
/// swift-metrics: making one takes longer than a cached response.
final class RequestMetrics: Sendable {
    private struct Kind: Hashable {
        let kind: String
        let outcome: String
    }

    private let factory: any MetricsFactory
    private let counters = Mutex<[Kind: Counter]>([:])
    private let timers = Mutex<[String: Timer]>([:])

    init(factory: any MetricsFactory) { self.factory = factory }

    /// Counts a request. The outcome is a status or `cancelled`.
    func add(_ kind: String, _ outcome: String, _ duration: Duration) {
        counters.withLock { counters in
            let name = Kind(kind: kind, outcome: outcome)
            if let counter = counters[name] { return counter }
            let dimensions = [("kind", kind), ("outcome", outcome)]
            let counter = Counter(label: "http_requests_total", dimensions: dimensions, factory: factory)
            counters[name] = counter
            return counter
        }.increment()
        let parts = duration.components
        timers.withLock { timers in
            if let timer = timers[kind] { return timer }
            let timer = Timer(label: "http_request_seconds", dimensions: [("kind", kind)], factory: factory)
            timers[kind] = timer
            return timer
        }.recordNanoseconds(parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000)
    }
}
