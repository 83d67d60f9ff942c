import FoundationEssentials
public import Pipeline

/// A client that asks each host no more often than it may.
///
/// Requests to one host, that is scheme, name and port, are sent at even distances; hosts don't wait for each other.
/// Waiters are served by priority, then in the order of arrival; a cancelled request leaves at once and takes nobody's
/// turn. Each redirect is a request of its own to the host that it leads to; those that the client inside follows by
/// itself are not counted.
///
/// ```swift
/// let client = RateLimited(CurlClient(), requestsPerSecond: 5)
/// ```
public final class RateLimited: HTTPClient {
    private let client: any HTTPClient
    private let interval: Duration
    private let clock: any LoadClock
    private let lines = Lock([CurlURL: RateLimitLine]())

    /// Wraps a client.
    /// - Parameters:
    ///   - client: what sends the requests.
    ///   - requestsPerSecond: how many requests a second each host gets; 0 or less is taken for one every 1000 seconds.
    ///   - clock: the time that requests wait by.
    public init(_ client: any HTTPClient, requestsPerSecond: Double, clock: any LoadClock = SystemClock()) {
        self.client = client
        // Written so that what is not a number is slow too.
        interval = .seconds(1 / (requestsPerSecond > 0.001 ? requestsPerSecond : 0.001))
        self.clock = clock
    }

    /// Waits for the request's turn and sends it.
    /// - Throws: what the client throws; `CancellationError` at once if the task is cancelled.
    public func send(_ request: TransferRequest) async throws -> TransferResponse {
        try await line(to: CurlURL(request.url)).turn(priority: request.priority, interval: interval, clock: clock)
        return try await client.send(request)
    }

    /// Shuts the client inside down.
    public func shutdown() async { await client.shutdown() }

    private func line(to host: CurlURL) -> RateLimitLine {
        let now = clock.uptime
        return lines.withLock { lines in
            if let line = lines[host] { return line }
            // A crawler meets any number of hosts; those that nobody waits for need not be remembered.
            if lines.count >= 256 { lines = lines.filter { $0.value.isBusy(at: now) } }
            let line = RateLimitLine()
            lines[host] = line
            return line
        }
    }
}
