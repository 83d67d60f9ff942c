public import FoundationEssentials
import HTTPTypes
import Pipeline

/// HTTP with a cache before it (RFC 9111): any method, any status, any type of content.
///
/// What is fresh is answered at once, what is stale is confirmed first; what the rules let a cache do beyond that, it
/// does: stale responses while one is confirmed in the background or while the origin is away, ranges and `304` out of the stored response,
/// `HEAD` out of a stored `GET`. Equal requests at the same time wait for one fetch where its answer may be reused, also
/// in another process that shares the cache's folder. Image pipelines over the same ``HTTPCache`` see the same entries.
///
/// ```swift
/// let client = CachingClient(HTTPCache(folder: folder), CurlClient())
/// let response = try await client.send(CachingRequest(url: url))
/// response.use                 // miss, and hit the next time
/// await client.drain()         // before the program ends
/// ```
public final class CachingClient: Sendable {
    /// Where answers are stored.
    public let cache: HTTPCache

    let client: any HTTPClient
    let background = BackgroundTasks()
    let fetches = SharedFetches()

    /// Puts a cache before a client.
    public init(_ cache: HTTPCache, _ client: any HTTPClient) {
        self.cache = cache
        self.client = client
    }

    /// Answers a request from the cache or by the origin, whatever the status.
    ///
    /// An origin that can't be reached is not an error as long as something stored may stand in for it.
    /// - Throws: what the client throws; `LoadError` with the code `refused` after more than five redirects;
    ///   `CancellationError` at once if the task is cancelled.
    public func send(_ request: CachingRequest) async throws -> CachingResponse {
        var request = request
        var steps: [CachingStep] = []
        var interim: [TransferResponse.Interim] = []
        var hops = RedirectHops(request.transfer(request.headers), credentials: cache.users.credentials)
        while true {
            var exchange = CachingExchange(request, of: self)
            var response = try await exchange.answer()
            steps += response.steps
            interim += response.interim
            response.steps = steps
            response.interim = interim
            guard request.redirect == .follow, try hops.follow(status: response.status, response.headers) else {
                return response
            }
            request.method = hops.request.method
            request.url = hops.request.url
            request.headers = hops.request.headers
            request.body = hops.request.body
            request.crossesOrigins = hops.request.crossesOrigins
        }
    }

    /// Forgets what is stored for a URL, as after an unsafe request to it (RFC 9111 section 4.4): what somebody told the
    /// program has changed. Images made of it leave memory as well; what was asked for before and arrives after it is
    /// given, and not stored.
    /// - Returns: how many answers there were.
    @discardableResult
    public func invalidate(_ url: URL) async -> Int { await cache.remove(url: url) }

    /// Waits until every revalidation in the background has ended: call it before the program does.
    public func drain() async { await background.drain() }

    /// Drops every revalidation in the background; ``drain()`` tells when they have ended.
    package func cancelBackground() { background.cancel() }
}
