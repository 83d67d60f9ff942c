import Pipeline
import Stages

/// Keeps what a loader tells its observers.
final class ObservationRecorder: LoadObserver {
    private let recorded = Lock<[LoadObservation]>([])

    func observe(_ observation: LoadObservation) { recorded.withLock { $0.append(observation) } }

    var observations: [LoadObservation] { recorded.withLock { $0 } }

    /// What happened, in words.
    var words: [String] { observations.map(\.words) }

    /// What happened to each load, in words.
    var wordsOfLoads: [[String]] {
        let observations = observations
        let loads = Set(observations.map(\.load)).sorted()
        return loads.map { load in observations.filter { $0.load == load }.map(\.words) }
    }
}

extension LoadObservation {
    var words: String {
        switch event {
        case .started: isPrefetch ? "prefetch started" : "started"
        case .alreadyLoading: "already loading"
        case .cacheHit(let source): "cache hit: \(source)"
        case .downloadStarted: "download started"
        case .stored(let source): "stored: \(source)"
        case .cancelled: "cancelled"
        case .failed: "failed"
        case .delivered(let response): "delivered: \(response.source)"
        }
    }
}
