public import Essentials

/// A client whose requests are rewritten as they are sent, such as by adding a token that changes with the hour.
///
/// A request that a redirect sends to another origin is not rewritten: the additions are meant for the first origin.
///
/// The image's identity stays the same: keys, caches and errors use the original URL, without the token.
///
/// ```swift
/// let client = Rewritten(CurlClient()) { request in
///     var request = request
///     request.url.append(queryItems: [URLQueryItem(name: "token", value: try await signer.token(for: request.url))])
///     return request
/// }
/// ```
public final class Rewritten: TransferClient {
    private let client: any TransferClient
    private let rewrite: @Sendable (TransferRequest) async throws -> TransferRequest

    /// Wraps a client.
    /// - Parameters:
    ///   - client: what sends the requests.
    ///   - rewrite: returns the request to send instead.
    public init(
        _ client: any TransferClient, rewrite: @escaping @Sendable (TransferRequest) async throws -> TransferRequest
    ) {
        self.client = client
        self.rewrite = rewrite
    }

    /// Rewrites the request and sends it. The response's URL is the original one, unless a redirect led elsewhere.
    /// - Throws: any error of the closure or the client.
    public func send(_ request: TransferRequest) async throws -> TransferResponse {
        guard !request.crossesOrigins else { return try await client.send(request) }
        let sent = try await rewrite(request)
        let response = try await client.send(sent)
        guard response.url == sent.url else { return response }
        return TransferResponse(
            status: response.status, reason: response.reason, headers: response.headers, url: request.url,
            interim: response.interim, body: response.body)
    }

    /// The rule of the wrapped client.
    public var urlRule: (@Sendable (URL) -> Bool)? { client.urlRule }

    /// Shuts down the wrapped client.
    public func shutdown() async { await client.shutdown() }
}
