public import Essentials
public import HTTPTypes
public import Pipeline

/// A request to ``CachingClient``.
public struct CachingRequest: Sendable {
    /// What to do about a redirect (RFC 9110 section 15.4).
    public enum Redirect: String, Sendable, Hashable, CaseIterable {
        /// It is followed, at most five times; each step has its own entry in the cache.
        case follow
        /// It is returned as the response.
        case manual
    }

    /// The method (RFC 9110 section 9); GET by default.
    public var method: HTTPRequest.Method
    /// The http or https URL.
    public var url: URL
    /// The fields, all of which reach the origin whenever it is asked. In a cache with several users, requests with
    /// different credentials share no entries, and a `private` response is also never shared between different values
    /// of a field that may name the user. The cache obeys `Cache-Control` (RFC 9111 section 5.2.1), conditions (section
    /// 4.3.2) and `Range`.
    public var headers: HTTPFields
    /// The content; `nil` by default.
    public var body: [UInt8]?
    /// How the cache is used; ``CacheMode/standard`` by default.
    public var mode: CacheMode
    /// What to do about redirects; they are followed by default.
    public var redirect: Redirect
    /// Names a caller, such as a user or tenant, whose cache entries no other caller shares; `nil` by default. Unlike
    /// header fields, it stays the same when a user's token changes.
    public var partition: String?
    /// How urgent it is; normal by default.
    public var priority: LoadPriority
    /// How long after its freshness has ended a stored response stands in for an origin that responds with any 5xx
    /// status. `nil`, the default, leaves that to `stale-if-error` of the response or the request (RFC 5861 section 4). A
    /// response with `must-revalidate` or `no-cache` never stands in (RFC 9111 section 4.2.4).
    public var staleIfError: Duration?
    /// Whether a redirect has led here from another origin.
    var crossesOrigins = false

    /// Describes a request.
    public init(
        method: HTTPRequest.Method = .get, url: URL, headers: HTTPFields = [:], body: [UInt8]? = nil,
        mode: CacheMode = .standard, redirect: Redirect = .follow, partition: String? = nil,
        priority: LoadPriority = .normal, staleIfError: Duration? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.mode = mode
        self.redirect = redirect
        self.partition = partition
        self.priority = priority
        self.staleIfError = staleIfError
    }

    /// The key of its responses: the same as for a load of the URL with the same headers.
    func key(_ credentials: CredentialFields) -> SourceKey? {
        SourceKey(ImageRequest(.url(url), headers: headers, partition: partition), credentials: credentials)
    }

    /// The request as it goes over the wire.
    func transfer(_ headers: HTTPFields) -> TransferRequest {
        var request = TransferRequest(
            method: method, url: url, headers: headers, body: body, priority: priority, maximumRedirects: 0,
            partition: partition)
        request.crossesOrigins = crossesOrigins
        return request
    }
}
