import HTTPTypes
import Pipeline

/// Limits the requests of each client: a bucket of tokens for each address, refilled at a constant rate.
final class RateLimit: Sendable {
    private struct Bucket {
        var tokens: Double
        var filled: Duration
    }

    private let perSecond: Double
    private let burst: Double
    private let clock: any LoadClock
    private let detail: String
    private let buckets = Lock<[String: Bucket]>([:])
    private static let maximumClients = 10_000

    /// - Parameters:
    ///   - perSecond: The requests a second; 0 for no limit.
    ///   - burst: The requests that may come at once.
    ///   - clock: By which buckets are refilled.
    ///   - detail: What a client is told that has to wait.
    init(
        perSecond: Double, burst: Int, clock: any LoadClock = SystemClock(),
        _ detail: String = "This client sends too many requests."
    ) {
        self.perSecond = perSecond
        self.burst = Double(max(1, burst))
        (self.clock, self.detail) = (clock, detail)
    }

    /// Takes a token for a request.
    /// - Throws: 429 with the time until the next token.
    func take(for client: @autoclosure () -> String) throws(Problem) {
        guard perSecond > 0 else { return }
        let (now, client) = (clock.uptime, client())
        let wait = buckets.withLock { buckets -> Double in
            if buckets.count >= Self.maximumClients, buckets[client] == nil { shrink(&buckets, at: now) }
            var left = buckets[client].map { tokens(in: $0, at: now) } ?? burst
            defer { buckets[client] = Bucket(tokens: left, filled: now) }
            guard left >= 1 else { return (1 - left) / perSecond }
            left -= 1
            return 0
        }
        guard wait > 0 else { return }
        throw Problem(.tooManyRequests, detail, retryAfter: .seconds(wait))
    }

    /// Drops full buckets, which say nothing, or else the half whose clients have been silent for longest: a stranger with
    /// many addresses can't have those forgotten that are asking.
    private func shrink(_ buckets: inout [String: Bucket], at now: Duration) {
        buckets = buckets.filter { tokens(in: $0.value, at: now) < burst }
        guard buckets.count >= Self.maximumClients else { return }
        let latest = buckets.sorted { $0.value.filled > $1.value.filled }.prefix(Self.maximumClients / 2)
        buckets = Dictionary(uniqueKeysWithValues: latest.map { ($0.key, $0.value) })
    }

    private func tokens(in bucket: Bucket, at now: Duration) -> Double {
        let passed = now - bucket.filled
        let seconds = Double(passed.components.seconds) + Double(passed.components.attoseconds) / 1e18
        return min(burst, bucket.tokens + seconds * perSecond)
    }
}
