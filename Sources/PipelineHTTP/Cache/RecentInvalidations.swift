import Essentials
import Pipeline

/// When URLs were made invalid (RFC 9111 section 4.4). A response that was requested earlier and arrives later is
/// outdated.
final class RecentInvalidations: Sendable {
    /// How long invalidations count, in seconds: no fetch takes longer.
    static let memory: TimeInterval = 600
    /// The number of invalidations that a cache's folder keeps for all processes.
    static let mostStored: Int64 = 10_000

    private struct State {
        /// The latest time of each, with the number under which it was noted.
        var latest: [String: (time: Int64, number: Int)] = [:]
        /// The invalidations, in the order in which they were noted.
        var order: Queue<(target: String, time: Int64, number: Int)> = []
        var lastNumber = 0
    }

    private let limit: Int
    private let state = Lock(State())

    /// - Parameter limit: how many notes are kept; about 100 bytes each.
    init(limit: Int = 10_000) { self.limit = max(1, limit) }

    /// How many notes are kept.
    var count: Int { state.withLock { $0.order.count } }

    /// Notes that a target URI was made invalid. Beyond the limit the oldest note is dropped.
    func note(_ target: String, at now: Date) {
        let time = now.microseconds
        state.withLock { state in
            state.lastNumber += 1
            state.latest[target] = (time, state.lastNumber)
            state.order.append((target, time, state.lastNumber))
            guard state.order.count > limit, let oldest = state.order.popFirst() else { return }
            if state.latest[oldest.target]?.number == oldest.number { state.latest[oldest.target] = nil }
        }
    }

    /// Returns whether a target URI was made invalid after a request for it was sent; also `true` if that is no longer
    /// known: too many others were made invalid after that request, or the clock was set back after it.
    func contains(_ target: String, since requestTime: Date, now: Date) -> Bool {
        state.withLock { state in
            if let time = state.latest[target]?.time {
                return Self.isInvalid(askedAt: requestTime, invalidatedAt: time, now: now)
            }
            guard state.order.count >= limit, let oldest = state.order.first else { return false }
            return Self.isInvalid(askedAt: requestTime, invalidatedAt: oldest.time, now: now)
        }
    }

    /// Whether a response is invalid by an invalidation of its target, whose time is in microseconds.
    ///
    /// A request from the future was sent before the clock was set back: which came first is unknown, so the response
    /// isn't stored. An invalidation from the future says nothing about later requests.
    static func isInvalid(askedAt requestTime: Date, invalidatedAt time: Int64, now: Date) -> Bool {
        requestTime.isFromFuture(at: now) || requestTime.microseconds < time && time <= now.microseconds
    }
}
