public import Essentials
import HTTPTypes
import Pipeline

/// An HTTP client with a cache (RFC 9111), for any method, status and type of content.
///
/// Fresh responses are served at once, stale ones are confirmed first. Where the rules allow it, a stale response is
/// served while it is confirmed in the background or while the origin can't be reached, ranges and `304` are served
/// from the stored response, and `HEAD` from a stored `GET`. Equal concurrent requests share one fetch if its response
/// may be reused, also across processes that share the cache's folder. Image pipelines with the same ``HTTPCache`` see
/// the same entries.
///
/// ```swift
/// let client = CachingClient(cache: HTTPCache(folder: folder), client: CurlClient())
/// let response = try await client.send(CachingRequest(url: url))
/// response.use                 // miss, and hit the next time
/// await client.drain()         // before the program ends
/// ```
public final class CachingClient: Sendable {
    /// The cache that stores the responses.
    package let cache: HTTPCache

    let client: any TransferClient
    let background = BackgroundTasks()
    let fetches = SharedFetches()

    /// Puts a cache in front of a client.
    public init(cache: HTTPCache, client: any TransferClient) {
        self.cache = cache
        self.client = client
    }

    /// Puts a cache in front of a client.
    @available(*, deprecated, renamed: "init(cache:client:)")
    public convenience init(_ cache: HTTPCache, _ client: any TransferClient) {
        self.init(cache: cache, client: client)
    }

    /// Returns the response to a request, from the cache or the origin, whatever its status.
    ///
    /// An origin that can't be reached is not an error as long as a stored response may stand in.
    /// - Throws: any error of the client; `LoadError` with the code `refused` after more than five redirects;
    ///   `CancellationError` at once if the task is cancelled.
    public func send(_ request: CachingRequest) async throws -> CachingResponse {
        var request = request
        var steps: [CachingStep] = []
        var interim: [TransferResponse.Interim] = []
        var hops = RedirectHops(request.transfer(request.headers), credentials: cache.users.credentials)
        while true {
            var exchange = CachingExchange(request, of: self, mayRead: hops.mayRead(by: client.urlRule))
            var response = try await exchange.respond()
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

    /// Removes the stored responses of a URL, as after an unsafe request to it (RFC 9111 section 4.4). Call it when the
    /// program learns that the URL has changed. Images made of them leave memory as well. A response that was requested
    /// before this call and arrives after it is delivered but not stored.
    /// - Returns: the number of removed responses.
    @discardableResult
    public func invalidate(_ url: URL) async -> Int { await cache.remove(url: url) }

    /// Waits until every revalidation in the background has ended. Call it before the program ends.
    public func drain() async { await background.drain() }

    /// Cancels every revalidation in the background; ``drain()`` waits for them to end.
    package func cancelBackground() { background.cancel() }
}
