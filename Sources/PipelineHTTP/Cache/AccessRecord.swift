import Essentials
import Pipeline

/// The responses that were used since uses were last written to the store, so that a read never waits for a write.
final class AccessRecord: Sendable {
    private struct State {
        var times: [Int64: Int64] = [:]
        var latest: Int64 = .min
    }

    private static let mostUnwritten = 1024

    private let state = Lock(State())

    /// Records a use. Returns whether enough uses are recorded to be written.
    func note(_ generation: Int64, at time: Date) -> Bool {
        state.withLock { state in
            // Two uses at one moment still have an order.
            state.latest = max(time.microseconds, state.latest == .max ? .max : state.latest + 1)
            state.times[generation] = state.latest
            return state.times.count >= Self.mostUnwritten
        }
    }

    /// Records uses of images in memory. These become known late, so each counts as of its own time.
    /// - Returns: Whether enough uses are recorded to be written.
    @discardableResult
    func note(_ uses: [ProductUse]) -> Bool {
        state.withLock { state in
            for use in uses {
                let time = use.time.microseconds
                state.times[use.generation] = max(state.times[use.generation] ?? .min, time)
            }
            return state.times.count >= Self.mostUnwritten
        }
    }

    /// Makes later uses count as later than `time`.
    func advance(to time: Date) { state.withLock { $0.latest = max($0.latest, time.microseconds) } }

    /// Removes and returns the uses recorded so far.
    func take() -> [ProductUse] {
        let times = state.withLock { state in
            defer { state.times = [:] }
            return state.times
        }
        return times.map { ProductUse(generation: $0, time: Date(microseconds: $1)) }
    }
}
