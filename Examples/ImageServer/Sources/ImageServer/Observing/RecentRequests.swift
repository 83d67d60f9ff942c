import DequeModule
import Stages
import Synchronization

/// The latest requests with what happened to them, for the gallery's page of traces. A ring: the oldest is dropped.
final class RecentRequests: Sendable {
    private struct Entry {
        let number: Int
        let name: String
        let status: Int
        let source: String
        let trace: Trace

        /// The entry as a JSON object.
        var json: String {
            let stages = trace.entries.filter { $0.outcome != .skipped }.map { entry in
                "{\"stage\":\(entry.stage.jsonText),\"depth\":\(entry.depth),\"outcome\":\"\(entry.outcome.rawValue)\","
                    + "\"ms\":\(entry.duration.milliseconds),\"note\":\((entry.note ?? "").jsonText)}"
            }
            let end = trace.entries.map { $0.start + $0.duration }.max() ?? .zero
            return "{\"number\":\(number),\"name\":\(name.jsonText),\"status\":\(status),\"source\":\(source.jsonText),"
                + "\"ms\":\(end.milliseconds),\"stages\":[\(stages.joined(separator: ","))]}"
        }
    }

    private let state = Mutex((entries: Deque<Entry>(), number: 0))
    private static let limit = 200

    /// Adds a request.
    /// - Parameters:
    ///   - name: The source, without query values.
    ///   - status: The status of the response.
    ///   - source: Where the result came from.
    ///   - trace: What happened, stage by stage.
    func add(name: String, status: Int, source: String, trace: Trace) {
        let dropped = state.withLock { state -> Entry? in
            state.number += 1
            state.entries.append(
                Entry(number: state.number, name: name, status: status, source: source, trace: trace))
            return state.entries.count > Self.limit ? state.entries.removeFirst() : nil
        }
        _ = dropped
    }

    /// The requests after a number, as a JSON array.
    func json(after number: Int) -> String {
        let entries = state.withLock { $0.entries.filter { $0.number > number } }
        return "[\(entries.map(\.json).joined(separator: ","))]"
    }
}

extension Duration {
    /// Whole nanoseconds. `components`, of which one is a division of 128 bits, take several times as long.
    var nanoseconds: Int64 {
        if let short = Int64(exactly: attoseconds) { return short / 1_000_000_000 }
        return Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// In milliseconds, with microseconds as its fraction. Written by hand: formatting a `Double` costs a tenth of a cached
    /// response.
    var milliseconds: String {
        let microseconds = max(0, nanoseconds / 1000)
        let fraction = microseconds % 1000
        return String(microseconds / 1000) + (fraction < 10 ? ".00" : fraction < 100 ? ".0" : ".") + String(fraction)
    }
}

extension Trace {
    /// The runs that took time, as `Server-Timing` lists them (W3C Server Timing): stages without a body, merged by name.
    var serverTiming: String {
        let runs = entries.indices.filter { index in
            let isComposite = index + 1 < entries.count && entries[index + 1].depth > entries[index].depth
            return entries[index].outcome != .skipped && !isComposite
        }
        // Bytes, since a string that grows takes a tenth of a cached response.
        var text: [UInt8] = []
        text.reserveCapacity(64 * runs.count)
        for (position, run) in runs.enumerated() {
            let stage = entries[run].stage
            guard !runs[..<position].contains(where: { entries[$0].stage == stage }) else { continue }
            let time = runs[position...].reduce(Duration.zero) { time, run in
                entries[run].stage == stage ? time + entries[run].duration : time
            }
            if !text.isEmpty { text += ", ".utf8 }
            text += stage.utf8
            text += ";dur=".utf8
            text += time.milliseconds.utf8
            text += ";desc=\"".utf8
            text += entries[run].outcome.rawValue.utf8
            text.append(UInt8(ascii: "\""))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
