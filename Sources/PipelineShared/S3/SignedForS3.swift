import FoundationEssentials
public import Pipeline
public import PipelineHTTP

/// A client that signs requests to an S3-compatible store, so that private objects can be sources (Signature Version 4).
///
/// Requests to other hosts pass unchanged, and so do those that a redirect has led there. Keys, caches and errors have the
/// object's URL, without the signature: whoever loads images through this client may load every object that the
/// credentials may read, also from the caches.
///
/// ```swift
/// let client = SignedForS3(CurlClient(), host: "s3.eu-central-1.amazonaws.com", region: "eu-central-1") {
///     try S3Credentials()
/// }
/// ```
public struct SignedForS3: HTTPClient {
    private let client: any HTTPClient
    private let host: String
    private let region: String
    private let clock: any LoadClock
    private let credentials: @Sendable () async throws -> S3Credentials

    /// Wraps a client.
    /// - Parameters:
    ///   - client: What sends the requests.
    ///   - host: The store's host. Hosts below it, which are named after buckets, belong to it too.
    ///   - region: The store's region; `us-east-1` by default, which stores that have no regions accept.
    ///   - clock: The clock by which requests are signed.
    ///   - credentials: Returns the keys, for each request.
    public init(
        _ client: any HTTPClient, host: String, region: String = "us-east-1", clock: any LoadClock = SystemClock(),
        credentials: @escaping @Sendable () async throws -> S3Credentials
    ) {
        self.client = client
        self.host = host.lowercased()
        self.region = region
        self.clock = clock
        self.credentials = credentials
    }

    /// Signs the request, if it is for the store, and sends it.
    /// - Throws: Any error of the client or of `credentials`.
    public func send(_ request: TransferRequest) async throws -> TransferResponse {
        guard !request.crossesOrigins, let own = request.url.host()?.lowercased(),
            own == host || own.hasSuffix("." + host)
        else { return try await client.send(request) }
        var signed = SignatureV4(credentials: try await credentials(), region: region).sign(request, at: clock.now)
        // A redirect needs another signature.
        signed.maximumRedirects = 0
        let response = try await client.send(signed)
        return TransferResponse(
            status: response.status, reason: response.reason, headers: response.headers, url: request.url,
            interim: response.interim, body: response.body)
    }

    /// Shuts the client down.
    public func shutdown() async { await client.shutdown() }
}
