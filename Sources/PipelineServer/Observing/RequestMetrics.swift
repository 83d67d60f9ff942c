import Metrics
import Pipeline

/// Counts and times requests, by the kind of their path and by their outcome. It keeps the handles of swift-metrics: making
/// one takes longer than a cached response.
final class RequestMetrics: Sendable {
    private struct Outcome: Hashable {
        let kind: String
        let status: Int?
    }

    private let factory: any MetricsFactory
    private let counters = Lock<[Outcome: Counter]>([:])
    private let timers: [String: Timer]

    /// - Parameter kinds: All of them, so that clients can't make any number of metrics.
    init(kinds: [String], factory: any MetricsFactory) {
        self.factory = factory
        let timers = kinds.map { kind in
            (kind, Timer(label: "http_request_seconds", dimensions: [("kind", kind)], factory: factory))
        }
        self.timers = Dictionary(timers) { first, _ in first }
    }

    /// Counts a request. The status is `nil` if it was cancelled.
    func add(_ kind: String, status: Int?, _ duration: Duration) {
        let outcome = Outcome(kind: kind, status: status)
        (counters.withLock { $0[outcome] } ?? newCounter(outcome)).increment()
        timers[kind]?.recordNanoseconds(duration.nanoseconds)
    }

    /// Foreign code makes it, so not under the lock.
    private func newCounter(_ outcome: Outcome) -> Counter {
        let dimensions = [("kind", outcome.kind), ("outcome", outcome.status.map(String.init) ?? "cancelled")]
        let counter = Counter(label: "http_requests_total", dimensions: dimensions, factory: factory)
        return counters.withLock { counters in
            if let first = counters[outcome] { return first }
            counters[outcome] = counter
            return counter
        }
    }
}
