import Metrics
import Synchronization

/// Counts and times requests, by the first component of their path and by their outcome. It keeps the handles of
/// swift-metrics: making one takes longer than a cached response.
final class RequestMetrics: Sendable {
    /// The first component of a path. Only known names, so that clients can't make any number of metrics.
    enum Kind: String, CaseIterable {
        case iiif, imgproxy, thumb, metrics, health, other

        /// Whether it is a path of pictures and what is known of them.
        var isPicture: Bool { self == .iiif || self == .imgproxy || self == .thumb }

        init(path: String) {
            let component = path.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") }
            self = Kind(rawValue: String(Substring(component))) ?? .other
        }
    }

    private struct Outcome: Hashable {
        let kind: Kind
        let status: Int?
    }

    private let factory: any MetricsFactory
    private let counters = Mutex<[Outcome: Counter]>([:])
    private let timers: [Kind: Timer]

    init(factory: any MetricsFactory) {
        self.factory = factory
        let timers = Kind.allCases.map { kind in
            (kind, Timer(label: "http_request_seconds", dimensions: [("kind", kind.rawValue)], factory: factory))
        }
        self.timers = Dictionary(uniqueKeysWithValues: timers)
    }

    /// Counts a request. The status is `nil` if it was cancelled.
    func add(_ kind: Kind, status: Int?, _ duration: Duration) {
        counters.withLock { counters in
            let outcome = Outcome(kind: kind, status: status)
            if let counter = counters[outcome] { return counter }
            let dimensions = [("kind", kind.rawValue), ("outcome", status.map(String.init) ?? "cancelled")]
            let counter = Counter(label: "http_requests_total", dimensions: dimensions, factory: factory)
            counters[outcome] = counter
            return counter
        }.increment()
        timers[kind]?.recordNanoseconds(duration.nanoseconds)
    }
}
