import FoundationEssentials
import PipelineShared
import Stages

/// A client that loads `s3:` URLs with the credentials of this machine, and passes on all other requests unchanged: a
/// public object of an http URL needs no credentials.
final class S3URLs: TransferClient {
    private let client: any TransferClient
    private let credentials = S3CredentialSource()

    init(_ client: any TransferClient) { self.client = client }

    func send(_ request: TransferRequest) async throws -> TransferResponse {
        guard request.url.scheme?.lowercased() == "s3" else { return try await client.send(request) }
        let signed = SignedForS3(client, at: try S3Endpoint()) { [credentials] in try await credentials.current() }
        return try await signed.send(request)
    }

    var urlRule: (@Sendable (URL) -> Bool)? { client.urlRule }

    func shutdown() async { await client.shutdown() }
}
