import DequeModule
import Foundation
import PipelineServer
import Stages
import Synchronization

/// The latest loads with what happened to them, for the gallery's page of traces. A ring: the oldest is dropped.
final class RecentRequests: LoadObserver {
    private struct Entry: Encodable {
        struct Stage: Encodable {
            let stage, outcome, note: String
            let depth: Int
            let ms: Double
        }

        var number = 0
        let name, source: String
        let status: Int
        let width, height, bytes: Int?
        let type: String?
        let ms: Double
        let stages: [Stage]

        init(_ name: String, _ status: Int, from source: String, _ result: EncodedImage?, _ trace: Trace) {
            (self.name, self.status, self.source) = (name, status, source)
            (width, height) = (result?.size?.width, result?.size?.height)
            (type, bytes) = (result?.declaredType, result?.bytes.count)
            ms = (trace.entries.map { $0.start + $0.duration }.max() ?? .zero) / .milliseconds(1)
            stages = trace.entries.filter { $0.outcome != .skipped }.map { entry in
                Stage(
                    stage: entry.stage, outcome: entry.outcome.rawValue, note: entry.note ?? "", depth: entry.depth,
                    ms: entry.duration / .milliseconds(1))
            }
        }
    }

    private let state = Mutex((entries: Deque<Entry>(), number: 0))

    func observe(_ observation: LoadObservation) {
        let entry: Entry
        switch observation.event {
        case .delivered(let response):
            entry = Entry(observation.subject, 200, from: response.source.rawValue, response.encoded, response.trace)
        case .failed(let error as LoadError):
            entry = Entry(observation.subject, Problem(error).status.code, from: "none", nil, error.trace)
        default: return
        }
        state.withLock { state in
            state.number += 1
            state.entries.append(entry)
            state.entries[state.entries.count - 1].number = state.number
            if state.entries.count > 200 { state.entries.removeFirst() }
        }
    }

    /// The loads after a number.
    func entries(after number: Int) -> some Encodable { state.withLock { $0.entries.filter { $0.number > number } } }
}
