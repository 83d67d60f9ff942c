public import Essentials
public import HTTPTypes

/// A response as it arrives from the network: the fields at once, the body as it is read.
public struct TransferResponse: Sendable {
    /// The status code (RFC 9110 section 15).
    public let status: Int
    /// The reason phrase, which is empty over HTTP/2. `CurlClient` keeps at most 100 visible ASCII characters of it.
    public let reason: String
    /// The fields of the final response, in their order.
    public let headers: HTTPFields
    /// The URL that responded, after redirects.
    public let url: URL
    /// The 1xx responses that came before (RFC 9110 section 15.2).
    public let interim: [Interim]
    /// The content, streamed with back-pressure: unread bytes are not received, as far as the protocol allows.
    public let body: TransferBody

    /// A 1xx response.
    public struct Interim: Sendable {
        /// The status code, 100 to 199.
        public let status: Int
        /// Its fields.
        public let headers: HTTPFields

        /// Describes a 1xx response.
        public init(status: Int, headers: HTTPFields) {
            self.status = status
            self.headers = headers
        }
    }

    /// Describes a response.
    public init(
        status: Int, reason: String = "", headers: HTTPFields, url: URL, interim: [Interim] = [], body: TransferBody
    ) {
        self.status = status
        self.reason = reason
        self.headers = headers
        self.url = url
        self.interim = interim
        self.body = body
    }
}
