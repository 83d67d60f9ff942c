import Essentials
import HTTPTypes
import PipelineHTTP

/// Asks the source policy before each request, those after redirects and those of stored redirects included: a redirect of
/// an allowed origin would otherwise lead anywhere.
final class GuardedClient: TransferClient {
    private let client: any TransferClient
    private let sources: SourcePolicy

    init(_ client: any TransferClient, _ sources: SourcePolicy) { (self.client, self.sources) = (client, sources) }

    func send(_ request: TransferRequest) async throws -> TransferResponse {
        guard sources.allows(request.url) else {
            throw LoadError(
                .refused, subject: redactedURL(request.url.absoluteString),
                "The URL, to which a redirect may have led, is not among the origins of the source policy.")
        }
        return try await client.send(request)
    }

    func shutdown() async { await client.shutdown() }

    var urlRule: (@Sendable (URL) -> Bool)? {
        let (sources, rule) = (sources, client.urlRule)
        return { sources.allows($0) && rule?($0) ?? true }
    }
}
