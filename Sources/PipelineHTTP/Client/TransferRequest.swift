public import Essentials
public import HTTPTypes
public import Pipeline

/// A request as it goes over the wire.
public struct TransferRequest: Sendable {
    /// The method (RFC 9110 section 9); GET by default.
    public var method: HTTPRequest.Method
    /// The http or https URL.
    public var url: URL
    /// The fields to send, besides `Host`, `User-Agent` and those of the connection.
    public var headers: HTTPFields
    /// The content of the request; `nil` by default.
    public var body: [UInt8]?
    /// How urgent the transfer is, compared to others that wait for a connection.
    public var priority: LoadPriority
    /// How many redirects (RFC 9110 section 15.4) are followed; 5 by default, 0 to return them to the caller.
    public var maximumRedirects: Int
    /// The addresses that this request may connect to; the client's with `nil`, the default.
    public var addresses: AddressPolicy?
    /// The user that the request is for, as the load's `partition` names it; `nil` by default. It is never sent: a client
    /// that serves several users, such as a ``Rewritten`` that adds each user's token, tells them apart by it.
    public var partition: String?
    /// Whether a redirect has led here from another origin, whose credentials are not for this one.
    public var crossesOrigins = false
    /// Whether the body is received no faster than it is read over TLS too, whatever its length; off by default. Turn
    /// it on for slow readers of long bodies. Such a request uses HTTP/1.1 on a connection of its own: over HTTP/2
    /// libcurl buffers unread bytes, up to the stream's window of 32 MB and beyond.
    public var needsBackPressure = false

    /// Describes a request.
    public init(
        method: HTTPRequest.Method = .get, url: URL, headers: HTTPFields = [:], body: [UInt8]? = nil,
        priority: LoadPriority = .normal, maximumRedirects: Int = 5, addresses: AddressPolicy? = nil,
        partition: String? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.priority = priority
        self.maximumRedirects = maximumRedirects
        self.addresses = addresses
        self.partition = partition
    }
}
