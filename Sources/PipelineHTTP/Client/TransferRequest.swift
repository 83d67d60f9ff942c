public import FoundationEssentials
public import HTTPTypes
public import Pipeline

/// A request as it goes over the wire.
public struct TransferRequest: Sendable {
    /// The method (RFC 9110 section 9); GET by default.
    public var method: HTTPRequest.Method
    /// The http or https URL.
    public var url: URL
    /// The fields that are sent, besides `Host`, `User-Agent` and what the connection needs.
    public var headers: HTTPFields
    /// The content of the request; `nil` by default.
    public var body: [UInt8]?
    /// How urgent the transfer is against others that wait for a connection.
    public var priority: LoadPriority
    /// How many redirects (RFC 9110 section 15.4) are followed; 5 by default, 0 to hand them to the caller.
    public var maximumRedirects: Int
    /// Which addresses may be connected to for this request; `nil`, the default, leaves it to the client.
    public var addresses: AddressPolicy?
    /// The user that the request is for, as the load's `partition` names it; `nil` by default. It is never sent: a client
    /// that serves several users, such as a ``Rewritten`` that adds each user's token, tells them apart by it.
    public var partition: String?
    /// Whether a redirect has led here from another origin, whose credentials are not for this one.
    public var crossesOrigins = false
    /// Whether the body has to be received no faster than it is read over TLS as well, whatever its length; off by
    /// default. Such a request speaks HTTP/1.1 on a connection of its own: over HTTP/2 libcurl itself takes and keeps
    /// what a reader leaves, up to the stream's window of 32 MB and beyond. For readers of long bodies that are slow.
    public var needsBackPressure = false

    /// Describes a request.
    public init(
        method: HTTPRequest.Method = .get, url: URL, headers: HTTPFields = [:], body: [UInt8]? = nil,
        priority: LoadPriority = .normal, maximumRedirects: Int = 5, addresses: AddressPolicy? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.priority = priority
        self.maximumRedirects = maximumRedirects
        self.addresses = addresses
    }
}
