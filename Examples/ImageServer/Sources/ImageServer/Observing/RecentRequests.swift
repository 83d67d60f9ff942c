import Stages
import Synchronization

/// The latest requests with what happened to them, for the gallery's page of traces. A ring: the oldest is dropped.
final class RecentRequests: Sendable {
    private let state = Mutex((texts: [String](), number: 0))
    private static let limit = 200

    /// Adds a request.
    /// - Parameters:
    ///   - name: The source, without query values.
    ///   - status: The status of the response.
    ///   - response: The load's result; `nil` for one that failed.
    ///   - trace: What happened, stage by stage.
    func add(name: String, status: Int, response: LoadResponse?, trace: Trace) {
        let stages = trace.entries.filter { $0.outcome != .skipped }.map { entry in
            "{\"stage\":\(entry.stage.jsonText),\"depth\":\(entry.depth),\"outcome\":\"\(entry.outcome.rawValue)\","
                + "\"start\":\(entry.start.milliseconds),\"ms\":\(entry.duration.milliseconds),"
                + "\"note\":\((entry.note ?? "").jsonText)}"
        }
        let source = response.map { $0.source.rawValue } ?? "none"
        let end = trace.entries.map { $0.start + $0.duration }.max() ?? .zero
        state.withLock { state in
            state.number += 1
            state.texts.append(
                "{\"number\":\(state.number),\"name\":\(name.jsonText),\"status\":\(status),\"source\":\"\(source)\","
                    + "\"ms\":\(end.milliseconds),\"stages\":[\(stages.joined(separator: ","))]}")
            if state.texts.count > Self.limit { state.texts.removeFirst() }
        }
    }

    /// The requests after a number, as a JSON array.
    func json(after number: Int) -> String {
        let texts = state.withLock { state in
            state.texts.suffix(max(0, min(state.texts.count, state.number - max(0, number))))
        }
        return "[\(texts.joined(separator: ","))]"
    }
}

extension Duration {
    /// In milliseconds, with microseconds as its fraction.
    var milliseconds: Double {
        (Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12).rounded() / 1e3
    }
}

extension Trace {
    /// The runs that took time, as `Server-Timing` lists them (W3C Server Timing): stages without a body, merged by name.
    var serverTiming: String {
        var times: [(name: String, duration: Duration)] = []
        for (index, entry) in entries.enumerated() where entry.outcome != .skipped {
            let isComposite = index + 1 < entries.count && entries[index + 1].depth > entry.depth
            guard !isComposite else { continue }
            if let known = times.firstIndex(where: { $0.name == entry.stage }) {
                times[known].duration += entry.duration
            } else {
                times.append((entry.stage, entry.duration))
            }
        }
        return times.map { "\($0.name);dur=\($0.duration.milliseconds)" }.joined(separator: ", ")
    }
}
