import DequeModule
import Foundation
import PipelineServer
import Stages
import Synchronization

/// The latest loads with what happened to them, for the gallery's page of traces. A ring: the oldest is dropped.
final class RecentRequests: LoadObserver {
    private struct Entry: Encodable {
        struct Stage: Encodable {
            let stage: String
            let depth: Int
            let outcome: String
            let ms: Double
            let note: String
        }

        var number = 0
        let name: String
        let status: Int
        let source: String
        let ms: Double
        let stages: [Stage]

        init(_ name: String, status: Int, source: String, _ trace: Trace) {
            (self.name, self.status, self.source) = (name, status, source)
            ms = (trace.entries.map { $0.start + $0.duration }.max() ?? .zero) / .milliseconds(1)
            stages = trace.entries.filter { $0.outcome != .skipped }.map { entry in
                Stage(
                    stage: entry.stage, depth: entry.depth, outcome: entry.outcome.rawValue,
                    ms: entry.duration / .milliseconds(1), note: entry.note ?? "")
            }
        }
    }

    private let state = Mutex((entries: Deque<Entry>(), number: 0))
    private static let limit = 200

    func observe(_ observation: LoadObservation) {
        let entry: Entry
        switch observation.event {
        case .delivered(let response):
            entry = Entry(observation.subject, status: 200, source: response.source.rawValue, response.trace)
        case .failed(let error as LoadError):
            entry = Entry(observation.subject, status: Problem(error).status.code, source: "none", error.trace)
        default: return
        }
        let dropped = state.withLock { state -> Entry? in
            state.number += 1
            state.entries.append(entry)
            state.entries[state.entries.count - 1].number = state.number
            return state.entries.count > Self.limit ? state.entries.removeFirst() : nil
        }
        _ = dropped
    }

    /// The loads after a number, as a JSON array.
    func json(after number: Int) throws -> String {
        let entries = state.withLock { $0.entries.filter { $0.number > number } }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return String(decoding: try encoder.encode(Array(entries)), as: UTF8.self)
    }
}
