public import Essentials
public import Pipeline

/// A client that limits the rate of requests to each host.
///
/// Requests to one host (scheme, name and port) are sent at even intervals; hosts don't wait for each other. Waiting
/// requests are sent in priority order, then first in, first out. A cancelled request leaves at once and uses no turn.
/// Each redirect is a request of its own to the host that it leads to; redirects that the wrapped client follows by
/// itself are not counted.
///
/// ```swift
/// let client = RateLimited(CurlClient(), requestsPerSecond: 5)
/// ```
public final class RateLimited: TransferClient {
    private let client: any TransferClient
    private let interval: Duration
    private let clock: any LoadClock
    private let lines = Lock([CurlURL: RateLimitLine]())

    /// Wraps a client.
    /// - Parameters:
    ///   - client: sends the requests.
    ///   - requestsPerSecond: how many requests a second each host gets; at least one every 1000 seconds.
    ///   - clock: the clock that requests wait by.
    public init(_ client: any TransferClient, requestsPerSecond: Double, clock: any LoadClock = SystemClock()) {
        self.client = client
        // Written so that NaN is slow too.
        interval = .seconds(1 / (requestsPerSecond > 0.001 ? requestsPerSecond : 0.001))
        self.clock = clock
    }

    /// Waits for the request's turn and sends it.
    /// - Throws: any error of the client; `CancellationError` at once if the task is cancelled.
    public func send(_ request: TransferRequest) async throws -> TransferResponse {
        try await line(to: CurlURL(request.url)).turn(priority: request.priority, interval: interval, clock: clock)
        return try await client.send(request)
    }

    /// The rule of the wrapped client.
    public var urlRule: (@Sendable (URL) -> Bool)? { client.urlRule }

    /// Shuts down the wrapped client.
    public func shutdown() async { await client.shutdown() }

    private func line(to host: CurlURL) -> RateLimitLine {
        let now = clock.uptime
        return lines.withLock { lines in
            if let line = lines[host] { return line }
            // A crawler may request any number of hosts; those without waiting requests need not be remembered.
            if lines.count >= 256 { lines = lines.filter { $0.value.isBusy(at: now) } }
            let line = RateLimitLine()
            lines[host] = line
            return line
        }
    }
}
