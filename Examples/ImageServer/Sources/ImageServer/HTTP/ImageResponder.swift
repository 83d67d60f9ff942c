import HTTPTypes
import Hummingbird
import PipelineShared
import Stages

/// Answers every request: it finds the dialect by the path's first component.
struct ImageResponder: HTTPResponder {
    typealias Context = ClientContext

    let connections: Connections
    let queue: WorkQueue
    private let pictures: Pictures
    private let rates: RateLimit
    private let clients: ClientAddresses
    private let metrics: PrometheusMetrics
    private let requests: RequestMetrics
    private let gallery: Gallery?

    init(_ settings: Settings, loader: ImageLoader, fleet: Fleet?, metrics: PrometheusMetrics) throws {
        connections = Connections(metrics: metrics)
        queue = WorkQueue(limit: settings.queue)
        let paths = try SignedPaths(settings, clock: loader.resources.clock)
        rates = RateLimit(perSecond: settings.rate, burst: settings.burst, clock: loader.resources.clock)
        clients = ClientAddresses(proxies: Set(settings.proxies))
        pictures = try Pictures(settings, loader: loader, fleet: fleet, paths: paths, queue: queue)
        gallery = settings.gallery ? try Gallery(settings, pictures: pictures, paths: paths) : nil
        self.metrics = metrics
        requests = RequestMetrics(factory: metrics)
    }

    func respond(to request: Request, context: ClientContext) async throws -> Response {
        // Read once, since each time makes another string.
        let path = request.uri.path
        let kind = RequestMetrics.Kind(path: path)
        let start = ContinuousClock.now
        var reply: Reply
        do {
            let lookup = pictures.find(request, path: path)
            let isQuick = lookup.kept?.hasAnswered ?? !kind.isPicture
            reply = try await connections.run(on: context.channel, isQuick: isQuick) {
                try await self.reply(to: request, kind, context, lookup)
            }
        } catch let problem as Problem {
            reply = Reply(problem)
        } catch is CancellationError {
            // Nobody reads this response: the client has gone, or the server shuts down.
            reply = Reply(Problem(.serviceUnavailable, "The request was cancelled."))
            reply.fields[.connection] = "close"
            requests.add(kind, status: nil, ContinuousClock.now - start)
            return reply.response(to: request)
        } catch let error as LoadError {
            reply = Reply(Problem(error))
        }
        let response = reply.response(to: request)
        requests.add(kind, status: response.status.code, ContinuousClock.now - start)
        return response
    }

    private func reply(
        to request: Request, _ kind: RequestMetrics.Kind, _ context: ClientContext, _ lookup: Plans.Lookup
    ) async throws -> Reply {
        guard request.method != .options else {
            var reply = Reply([])
            reply.status = .noContent
            reply.fields[.allow] = "GET, HEAD, OPTIONS"
            reply.fields[.accessControlAllowMethods] = "GET, HEAD, OPTIONS"
            reply.fields[.accessControlAllowHeaders] = "*"
            reply.fields[.accessControlMaxAge] = "86400"
            return reply
        }
        guard request.method == .get || request.method == .head else {
            var reply = Reply(Problem(.methodNotAllowed, "Pictures are read with GET or HEAD."))
            reply.fields[.allow] = "GET, HEAD, OPTIONS"
            return reply
        }
        if !kind.isPicture, let page = try await page(request) { return page }
        try rates.take(for: clients.address(of: request, context.channel))
        return try await pictures.reply(to: request, lookup)
    }

    /// What is served besides pictures.
    private func page(_ request: Request) async throws -> Reply? {
        switch request.uri.path {
        case "/health/live": return Reply(ofThisMoment: "alive\n", type: "text/plain")
        case "/health/ready":
            guard !queue.isFull else {
                throw Problem(.serviceUnavailable, "The queue is full.", retryAfter: .seconds(1))
            }
            return Reply(ofThisMoment: "ready\n", type: "text/plain")
        case "/metrics": return Reply(ofThisMoment: metrics.text, type: "text/plain; version=0.0.4; charset=utf-8")
        default: return try await gallery?.page(request)
        }
    }
}
