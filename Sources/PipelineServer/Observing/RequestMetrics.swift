import Metrics
import Pipeline

/// Counts and times requests, by the kind of their path, by their tenant and by their outcome. It keeps the handles of
/// swift-metrics: making one takes longer than a cached response.
final class RequestMetrics: Sendable {
    private struct Kind: Hashable {
        let name: String
        let tenant: String?

        var dimensions: [(String, String)] { [("kind", name)] + (tenant.map { [("tenant", $0)] } ?? []) }
    }

    private struct Outcome: Hashable {
        let kind: Kind
        let status: Int?
    }

    private let factory: any MetricsFactory
    private let counters = Lock<[Outcome: Counter]>([:])
    private let timers: [Kind: Timer]
    private let fallbacks: [Kind: Counter]

    /// - Parameters:
    ///   - kinds: All of them, so that clients can't make any number of metrics.
    ///   - tenants: All of them.
    init(kinds: [String], tenants: [String] = [], factory: any MetricsFactory) {
        self.factory = factory
        let kinds = Set(kinds.flatMap { kind in ([nil] + tenants).map { Kind(name: kind, tenant: $0) } })
        timers = Dictionary(
            uniqueKeysWithValues: kinds.map {
                ($0, Timer(label: "http_request_seconds", dimensions: $0.dimensions, factory: factory))
            })
        fallbacks = Dictionary(
            uniqueKeysWithValues: kinds.map {
                ($0, Counter(label: "http_fallbacks_total", dimensions: $0.dimensions, factory: factory))
            })
    }

    /// Counts a request. The status is `nil` if it was cancelled.
    func add(_ name: String, tenant: String? = nil, status: Int?, isFallback: Bool = false, _ duration: Duration) {
        let kind = Kind(name: name, tenant: tenant)
        let outcome = Outcome(kind: kind, status: status)
        (counters.withLock { $0[outcome] } ?? newCounter(outcome)).increment()
        if isFallback { fallbacks[kind]?.increment() }
        timers[kind]?.recordNanoseconds(duration.nanoseconds)
    }

    /// Foreign code makes it, so not under the lock.
    private func newCounter(_ outcome: Outcome) -> Counter {
        let dimensions = outcome.kind.dimensions + [("outcome", outcome.status.map(String.init) ?? "cancelled")]
        let counter = Counter(label: "http_requests_total", dimensions: dimensions, factory: factory)
        return counters.withLock { counters in
            if let first = counters[outcome] { return first }
            counters[outcome] = counter
            return counter
        }
    }
}
