import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures

/// A real connection between a scenario's fronts and its origin: every request and every reply goes over a socket.
final class ScenarioWire: Sendable {
    private let server: ScriptedOrigin
    private let client = CurlClient(.local)
    private let reply: Lock<ScriptedOrigin.Reply>

    init() throws {
        let reply = Lock(ScriptedOrigin.Reply(status: 500))
        self.reply = reply
        server = try ScriptedOrigin { _ in reply.withLock { $0 } }
    }

    /// Sends a request over the socket, to be answered with this reply.
    func send(_ request: TransferRequest, answeredBy scripted: ScriptedOrigin.Reply) async throws -> TransferResponse {
        reply.withLock { $0 = scripted }
        var request = request
        let url = request.url
        request.url = server.url(url.path())
        request.maximumRedirects = 0
        let response = try await client.send(request)
        return TransferResponse(
            status: response.status, reason: response.reason, headers: response.headers, url: url,
            interim: response.interim, body: response.body)
    }
}
