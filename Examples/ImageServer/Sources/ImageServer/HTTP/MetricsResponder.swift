import HTTPTypes
import Hummingbird
import HummingbirdCore

/// Answers at the port of the metrics, which is for monitoring alone.
struct MetricsResponder: HTTPResponder {
    typealias Context = ClientContext

    let images: ImageResponder

    func respond(to request: Request, context: ClientContext) async throws -> Response {
        let reply = request.uri.path == "/metrics" ? images.metricsPage : Reply(Problem(.notFound, "Ask for /metrics."))
        return reply.response(to: request)
    }
}
