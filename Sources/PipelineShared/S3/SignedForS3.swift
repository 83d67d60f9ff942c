public import Essentials
public import Pipeline
public import PipelineHTTP

/// A client that signs requests to an S3-compatible store, so that private objects can be sources (Signature Version 4).
///
/// ```swift
/// let endpoint = S3Endpoint(region: "eu-central-1")
/// let client = SignedForS3(CurlClient(), at: endpoint, credentials: S3CredentialSource())
/// let response = try await loader.load(ImageRequest(URL(string: "s3://bucket/photo.jpg")))
/// ```
///
/// It loads `s3://bucket/key` from the store, with the key percent-encoded as in any URL, and signs http and https
/// requests to the store's host. Requests to other hosts pass unchanged, and so do those that a redirect has led there.
/// Keys, caches and errors have the object's URL, without the signature: whoever loads images through this client may
/// load every object that the credentials may read, also from the caches.
public final class SignedForS3: TransferClient {
    private let client: any TransferClient
    private let endpoint: S3Endpoint
    private let requests: SignedRequests

    /// Wraps a client.
    /// - Parameters:
    ///   - client: What sends the requests. For `s3:` URLs it need not allow the store's address.
    ///   - endpoint: The store. Hosts below its own, which are named after buckets, belong to it too.
    ///   - clock: The clock by which requests are signed.
    ///   - credentials: Returns the keys, for each request. After a refusal it is called again, and the request is sent
    ///     again if the keys have changed.
    public init(
        _ client: any TransferClient, at endpoint: S3Endpoint, clock: any LoadClock = SystemClock(),
        credentials: @escaping @Sendable () async throws -> S3Credentials
    ) {
        self.client = client
        self.endpoint = endpoint
        requests = SignedRequests(client, region: endpoint.region, clock: clock, credentials: credentials)
    }

    /// Wraps a client that signs with the credentials of this machine. They are read again if the store refuses them, and
    /// the request is then sent again.
    /// - Parameters:
    ///   - client: What sends the requests. For `s3:` URLs it need not allow the store's address.
    ///   - endpoint: The store. Hosts below its own, which are named after buckets, belong to it too.
    ///   - clock: The clock by which requests are signed.
    ///   - source: Where the keys are.
    public init(
        _ client: any TransferClient, at endpoint: S3Endpoint, clock: any LoadClock = SystemClock(),
        credentials source: S3CredentialSource
    ) {
        self.client = client
        self.endpoint = endpoint
        requests = SignedRequests(client, region: endpoint.region, clock: clock, source: source)
    }

    /// Signs the request, if it is for the store, and sends it.
    /// - Throws: `LoadError` with `invalidURL` for an `s3:` URL that names no object; any error of the client or of
    ///   `credentials`.
    public func send(_ request: TransferRequest) async throws -> TransferResponse {
        guard !request.crossesOrigins, var own = try located(request) else { return try await client.send(request) }
        // A redirect needs another signature.
        own.maximumRedirects = 0
        let response = try await requests.send(own)
        return TransferResponse(
            status: response.status, reason: response.reason, headers: response.headers, url: request.url,
            interim: response.interim, body: response.body)
    }

    /// The request with the URL at which the store has the object; `nil` if it is for another host.
    private func located(_ request: TransferRequest) throws -> TransferRequest? {
        var located = request
        if request.url.scheme?.lowercased() == "s3" {
            guard let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true),
                let bucket = parts.encodedHost, parts.percentEncodedPath.count > 1,
                let url = endpoint.url(
                    bucket: bucket, key: String(parts.percentEncodedPath.dropFirst()), query: parts.percentEncodedQuery)
            else {
                throw LoadError(
                    .invalidURL, subject: redactedURL(request.url.absoluteString),
                    "The URL names no object. Write s3://bucket/key.")
            }
            located.url = url
            // The store is the program's choice, whatever the client allows to others.
            located.addresses = .any
            return located
        }
        guard let host = endpoint.url.host()?.lowercased(), let own = request.url.host()?.lowercased(),
            own == host || own.hasSuffix("." + host)
        else { return nil }
        return located
    }

    /// The rule of the wrapped client.
    public var urlRule: (@Sendable (URL) -> Bool)? { client.urlRule }

    /// Shuts the client down.
    public func shutdown() async { await client.shutdown() }
}
