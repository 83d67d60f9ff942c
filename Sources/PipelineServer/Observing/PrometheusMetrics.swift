public import HTTPTypes
public import Metrics
import Pipeline
import SourceVersion
import Synchronization

/// Keeps the metrics of swift-metrics, and writes them as Prometheus reads them (the text format 0.0.4).
///
/// Names that the library's own modules use get a line of help. Figures of the process come last.
public final class PrometheusMetrics: MetricsFactory {
    fileprivate struct Key: Hashable {
        let name: String
        let labels: [String]

        init(_ label: String, _ dimensions: [(String, String)]) {
            name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
            labels = dimensions.map { "\($0.0)=\($0.1.jsonText)" }
        }

        func text(_ suffix: String = "", _ more: String? = nil) -> String {
            let all = labels + (more.map { [$0] } ?? [])
            return name + suffix + (all.isEmpty ? "" : "{\(all.joined(separator: ","))}")
        }
    }

    private let counters = Lock<[Key: PrometheusCounter]>([:])
    private let gauges = Lock<[Key: PrometheusGauge]>([:])
    private let timers = Lock<[Key: PrometheusTimer]>([:])
    private let process = ProcessFigures()
    private let figures = Lock<[Figure]>([])

    private struct Figure {
        let name, help: String
        let value: @Sendable () async -> Double?
    }

    /// Makes a factory without a metric.
    public init() {}

    /// Adds a figure that is read for each page, such as the bytes of a cache.
    /// - Parameters:
    ///   - name: The metric's name.
    ///   - help: What it is, in a line.
    ///   - value: Reads it; `nil` leaves it out.
    public func add(_ name: String, help: String, _ value: @escaping @Sendable () async -> Double?) {
        figures.withLock { $0.append(Figure(name: name, help: help, value: value)) }
    }

    /// The version of this module: with the commit if PIPECTL_COMMIT named it at build time, as in `0.2.0-dev+5000c9f5`.
    public static var version: String { SourceVersion.text }

    /// The page `/metrics`.
    public func page() async -> Reply {
        var page = text
        for figure in figures.withLock({ $0 }) {
            guard let value = await figure.value() else { continue }
            let type = figure.name.hasSuffix("_total") ? "counter" : "gauge"
            page += "# HELP \(figure.name) \(figure.help)\n# TYPE \(figure.name) \(type)\n\(figure.name) \(value)\n"
        }
        return Reply(ofThisMoment: page + build + process.text, type: "text/plain; version=0.0.4; charset=utf-8")
    }

    /// The response to a request for the page at a port of its own. Pages of other origins can't read it through a name of
    /// theirs that leads to this machine (DNS rebinding), since only known hosts are answered.
    /// - Parameters:
    ///   - request: The request.
    ///   - hosts: The hosts under which it is asked for; others get 421.
    public func response(to request: HTTPRequest, hosts: Hosts) async -> ServerResponse {
        do {
            _ = try hosts.address(for: request)
            return await page().response(to: request)
        } catch {
            return Reply(error).response(to: request)
        }
    }

    /// Makes the counter of a name and its labels, or returns the one that has been made.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counters.withLock { Self.kept(&$0, Key(label, dimensions), PrometheusCounter()) }
    }

    /// Makes the gauge of a name and its labels, or returns the one that has been made.
    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        gauges.withLock { Self.kept(&$0, Key(label, dimensions), PrometheusGauge()) }
    }

    /// Makes the gauge of a name and its labels, or returns the one that has been made.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauges.withLock { Self.kept(&$0, Key(label, dimensions), PrometheusGauge()) }
    }

    /// Makes the histogram of a name and its labels, or returns the one that has been made.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        timers.withLock { Self.kept(&$0, Key(label, dimensions), PrometheusTimer()) }
    }

    private static func kept<Handler>(
        _ all: inout [Key: Handler], _ key: Key, _ made: @autoclosure () -> Handler
    ) -> Handler {
        if let first = all[key] { return first }
        let handler = made()
        all[key] = handler
        return handler
    }

    /// Does nothing: a counter is kept, since its name may come again.
    public func destroyCounter(_: any CounterHandler) {}
    /// Does nothing: a recorder is kept, since its name may come again.
    public func destroyRecorder(_: any RecorderHandler) {}
    /// Does nothing: a meter is kept, since its name may come again.
    public func destroyMeter(_: any MeterHandler) {}
    /// Does nothing: a timer is kept, since its name may come again.
    public func destroyTimer(_: any TimerHandler) {}

    private var build: String {
        "# HELP pipeline_build_info 1, with the version of the program.\n# TYPE pipeline_build_info gauge\n"
            + "pipeline_build_info{version=\"\(Self.version)\"} 1\n"
    }

    /// All metrics as text, in the order of their names.
    var text: String {
        var lines: [(name: String, type: String, lines: [String])] = []
        for (key, counter) in counters.withLock({ $0 }) {
            lines.append((key.name, "counter", [key.text() + " \(counter.value)"]))
        }
        for (key, gauge) in gauges.withLock({ $0 }) {
            lines.append((key.name, "gauge", [key.text() + " \(gauge.value)"]))
        }
        for (key, timer) in timers.withLock({ $0 }) {
            let (counts, seconds) = timer.sums
            var sum = 0
            var rows: [String] = []
            for (bound, count) in zip(PrometheusTimer.bounds.map { "\($0)" } + ["+Inf"], counts) {
                sum += count
                rows.append(key.text("_bucket", "le=\"\(bound)\"") + " \(sum)")
            }
            lines.append(
                (key.name, "histogram", rows + [key.text("_sum") + " \(seconds)", key.text("_count") + " \(sum)"]))
        }
        var text = ""
        var last = ""
        for (name, type, rows) in lines.sorted(by: { ($0.name, $0.lines[0]) < ($1.name, $1.lines[0]) }) {
            if name != last {
                text += Self.help(name).map { "# HELP \(name) \($0)\n" } ?? ""
                text += "# TYPE \(name) \(type)\n"
            }
            last = name
            text += rows.joined(separator: "\n") + "\n"
        }
        return text
    }

    /// What a metric counts, in a line.
    private static func help(_ name: String) -> String? {
        switch name {
        case "http_requests_total": "Requests that ended, by the kind of their path, their tenant and their status."
        case "http_fallbacks_total": "Responses with the fallback in place of a source that can't be loaded."
        case "http_request_seconds": "How long requests took, by the kind of their path and by their tenant."
        case "http_abort_seconds": "How long work went on after its client had gone, by whether it encoded by then."
        case "http_queue": "Results in progress and waiting."
        case "pipeline_loads": "Loads that ended, by their outcome."
        case "pipeline_hits": "Images that a cache had, by the cache."
        case "pipeline_misses": "Requests to origins, and files whose bytes were read."
        case "pipeline_received_bytes": "Bytes of bodies that were downloaded."
        case "pipeline_load_seconds": "How long loads took."
        case "pipeline_stage_seconds": "How long stages took, by the stage."
        case "pipeline_in_flight": "Loads in flight."
        case "pipeline_queue_depth": "Decodes that wait for a thread."
        case "pipeline_confined": "1 if all formats are decoded in fully confined processes."
        default: nil
        }
    }
}

private final class PrometheusCounter: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }
}

private final class PrometheusGauge: RecorderHandler, MeterHandler {
    private let current = Lock(0.0)

    var value: Double { current.withLock { $0 } }

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { current.withLock { $0 = value } }
    func increment(by amount: Double) { current.withLock { $0 += amount } }
    func decrement(by amount: Double) { current.withLock { $0 -= amount } }
}

private final class PrometheusTimer: TimerHandler {
    /// The upper bounds of all buckets but the last, in seconds.
    static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    private let state = Lock((counts: [Int](repeating: 0, count: bounds.count + 1), seconds: 0.0))

    var sums: (counts: [Int], seconds: Double) { state.withLock { $0 } }

    func recordNanoseconds(_ duration: Int64) {
        let seconds = Double(duration) / 1e9
        let bucket = Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.seconds += seconds
        }
    }
}
