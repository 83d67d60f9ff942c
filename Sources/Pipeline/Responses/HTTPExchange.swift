public import Essentials
public import HTTPTypes

/// A request and the whole response to it: what a fetcher gives to ``Load/deliver(_:from:)``, and what `HTTPCache` stores.
public struct HTTPExchange: Sendable {
    /// The URL that responded, after redirects: the target URI (RFC 9110 section 7.1).
    public var url: URL
    /// The request's method. Responses to GET are stored, and those to POST that say what a GET would return (RFC 9110
    /// section 9.3.3).
    public var method: HTTPRequest.Method
    /// The request's header fields, as they were sent. `Vary` selects among them (RFC 9110 section 12.5.5).
    public var requestHeaders: HTTPFields
    /// The status code (RFC 9110 section 15).
    public var status: Int
    /// The response's header fields.
    public var headers: HTTPFields
    /// When the request was sent, by this machine's clock (RFC 9111 section 4.2.3).
    public var requestTime: Date
    /// When the response's header fields arrived, by this machine's clock (RFC 9111 section 4.2.3).
    public var responseTime: Date
    /// The response's whole content.
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

    /// Describes content from a source other than an HTTP server, such as a folder, a database or a message bus.
    ///
    /// ```swift
    /// let isSame = load.response.stored?.validator == version
    /// load.deliver(
    ///     HTTPExchange(
    ///         url: url, bytes: isSame ? nil : try read(url), mediaType: "image/png", lifetime: .seconds(60),
    ///         validator: version, at: load.clock.now))
    /// ```
    /// - Parameters:
    ///   - url: The URL that the request's source names.
    ///   - bytes: The content; `nil` if the stored response with this validator still holds. The exchange is then a 304
    ///     (RFC 9110 section 15.4.5), and no content is read or sent.
    ///   - mediaType: The media type of the content, such as `image/png`. Without one, decoders go by the bytes.
    ///   - lifetime: How long the content is fresh, in whole seconds, rounded down. Zero means that the source is asked
    ///     each time. Without one, the request's ``Expiry`` decides.
    ///   - validator: A text that changes whenever the content does, such as a version or a digest, without quotation
    ///     marks and control characters. It becomes the entity tag (RFC 9110 section 8.8.3). Without one, the content is
    ///     read again once it is stale.
    ///   - time: When the source was asked.
    public init(
        url: URL, bytes: [UInt8]?, mediaType: String? = nil, lifetime: Duration? = nil, validator: String? = nil,
        at time: Date
    ) {
        var headers = HTTPFields()
        headers[.contentType] = mediaType
        headers[.cacheControl] = lifetime.map { "max-age=\(max(0, $0.clamped.components.seconds))" }
        headers[.eTag] = validator.map { "\"\($0)\"" }
        self.init(
            url: url, status: bytes == nil ? 304 : 200, headers: headers, requestTime: time, responseTime: time,
            body: bytes ?? [])
    }
}
