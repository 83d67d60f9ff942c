public import FoundationEssentials
public import HTTPTypes

/// A request and the whole answer to it: what ``HTTPCache`` is asked to store.
public struct HTTPExchange: Sendable {
    /// The URL that answered, after redirects: the target URI (RFC 9110 section 7.1).
    public var url: URL
    /// The request's method; answers to GET are stored, and to POST those that say what a GET would give (RFC 9110
    /// section 9.3.3).
    public var method: HTTPRequest.Method
    /// The request's fields, as they were sent; `Vary` selects among them (RFC 9110 section 12.5.5).
    public var requestHeaders: HTTPFields
    /// The status code (RFC 9110 section 15).
    public var status: Int
    /// The answer's fields.
    public var headers: HTTPFields
    /// When the request was sent, by this machine's clock (RFC 9111 section 4.2.3).
    public var requestTime: Date
    /// When the answer's fields arrived, by this machine's clock (RFC 9111 section 4.2.3).
    public var responseTime: Date
    /// The answer's content, whole.
    public var body: [UInt8]

    /// Describes an exchange.
    public init(
        url: URL, method: HTTPRequest.Method = .get, requestHeaders: HTTPFields = [:], status: Int,
        headers: HTTPFields, requestTime: Date, responseTime: Date, body: [UInt8]
    ) {
        self.url = url
        self.method = method
        self.requestHeaders = requestHeaders
        self.status = status
        self.headers = headers
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.body = body
    }

    /// Whether it says that what is stored is not suitable any more, even where it may not be stored itself (RFC 9111
    /// section 4.3.3).
    package var replacesStored: Bool {
        method == .get && status.evictsStored && !CacheControl(requestHeaders).contains("no-store")
    }
}
