import FoundationEssentials
import Pipeline

/// When URLs were made invalid (RFC 9111 section 4.4): what was asked before that, and arrives after it, is already old.
final class RecentInvalidations: Sendable {
    /// No fetch takes longer.
    static let memory: TimeInterval = 600

    private let times = Lock<[String: Date]>([:])

    /// Notes that a target URI was made invalid.
    func note(_ target: String, at now: Date) {
        times.withLock { times in
            times[target] = now
            if times.count > 1000 { times = times.filter { abs(now.timeIntervalSince($0.value)) < Self.memory } }
        }
    }

    /// Whether a target URI was made invalid after a request for it was sent.
    func contains(_ target: String, since requestTime: Date, now: Date) -> Bool {
        times.withLock { times in
            guard let time = times[target] else { return false }
            // One from the future is from before the clock was set back.
            return requestTime < time && time <= now
        }
    }
}
