public import Essentials
public import HTTPTypes

/// A response of ``CachingClient``.
public struct CachingResponse: Sendable {
    /// The status code (RFC 9110 section 15).
    public var status: Int
    /// The reason phrase; for a stored response the usual one.
    public var reason: String
    /// The fields; a stored response has its `Age` (RFC 9111 section 5.1) and not those of the connection.
    public var headers: HTTPFields
    /// The content, whole.
    public var body: [UInt8]
    /// The URL that responded, after redirects.
    public var url: URL
    /// The 1xx responses that came before (RFC 9110 section 15.2); none of them is stored.
    public var interim: [TransferResponse.Interim]
    /// How the cache contributed to it.
    public var use: CacheUse
    /// What happened, request by request. There is more than one if redirects were followed.
    package var steps: [CachingStep]
}
