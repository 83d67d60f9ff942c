import Pipeline
import PipelineHTTP

/// Signs requests to a store and sends them. One that the store refuses is sent again if there are other credentials.
struct SignedRequests: Sendable {
    let client: any TransferClient
    let region: String
    let clock: any LoadClock
    let credentials: @Sendable () async throws -> S3Credentials
    /// Other credentials than those that were refused; `nil` if there are none.
    let renewed: @Sendable (S3Credentials) async -> S3Credentials?

    /// Signs with what a closure returns, which is asked again after a refusal.
    init(
        _ client: any TransferClient, region: String, clock: any LoadClock,
        credentials: @escaping @Sendable () async throws -> S3Credentials
    ) {
        (self.client, self.region, self.clock, self.credentials) = (client, region, clock, credentials)
        renewed = { refused in
            let others = try? await credentials()
            return others == refused ? nil : others
        }
    }

    /// Signs with the credentials of a source.
    init(_ client: any TransferClient, region: String, clock: any LoadClock, source: S3CredentialSource) {
        (self.client, self.region, self.clock) = (client, region, clock)
        credentials = { try await source.current() }
        renewed = { await source.renewed(after: $0) }
    }

    /// Signs a request and sends it.
    /// - Parameter payload: The SHA-256 of the body in hexadecimal digits, if it is known.
    func send(_ request: TransferRequest, payload: String? = nil) async throws -> TransferResponse {
        func signed(with credentials: S3Credentials) -> TransferRequest {
            SignatureV4(credentials: credentials, region: region).sign(request, at: clock.now, payload: payload)
        }
        let current = try await credentials()
        let response = try await client.send(signed(with: current))
        guard Self.isRefusal(response.status, of: current), let others = await renewed(current) else { return response }
        return try await client.send(signed(with: others))
    }

    /// Whether a response may be due to the credentials. A token that has expired is a bad request for stores.
    private static func isRefusal(_ status: Int, of credentials: S3Credentials) -> Bool {
        status == 401 || status == 403 || status == 400 && credentials.sessionToken != nil
    }
}
