import HTTPTypes
import Hummingbird
import Metrics
import PipelineShared
import Stages

/// Answers every request: it finds the dialect by the path's first component.
struct ImageResponder: HTTPResponder {
    typealias Context = ClientContext

    let connections: Connections
    let queue: WorkQueue
    let lifecycle: Lifecycle
    let log: RequestLog
    private let paths: SignedPaths
    private let pictures: Pictures
    private let hosts: Hosts
    private let rates: RateLimit
    private let clients: ClientAddresses
    private let metrics: PrometheusMetrics
    private let requests: RequestMetrics
    private let queueLength: Gauge
    private let hasMetricsPort: Bool
    private let process = ProcessFigures()
    private let gallery: Gallery?

    init(
        _ settings: Settings, loader: ImageLoader, fleet: Fleet?, metrics: PrometheusMetrics, log: RequestLog,
        lifecycle: Lifecycle
    ) throws {
        connections = Connections(metrics: metrics)
        queue = WorkQueue(limit: settings.queue, originLimit: settings.originQueue ?? max(1, settings.queue / 4))
        paths = try SignedPaths(settings, clock: loader.resources.clock)
        hosts = try settings.hosts()
        rates = RateLimit(perSecond: settings.rate, burst: settings.burst, clock: loader.resources.clock)
        clients = try ClientAddresses(proxies: settings.proxies)
        pictures = try Pictures(settings, loader: loader, fleet: fleet, paths: paths, queue: queue)
        gallery = settings.gallery ? try Gallery(settings, pictures: pictures, paths: paths) : nil
        self.metrics = metrics
        self.log = log
        self.lifecycle = lifecycle
        requests = RequestMetrics(factory: metrics)
        queueLength = Gauge(label: "http_queue", factory: metrics)
        hasMetricsPort = settings.metricsPort != nil
    }

    /// Reads the keys again.
    /// - Throws: ``SettingsError`` for a file that can't be read; the keys from before stay.
    func reloadKeys() throws { try paths.reloadKeys() }

    func respond(to request: Request, context: ClientContext) async throws -> Response {
        // Read once, since each time makes another string.
        let path = request.uri.path
        let kind = RequestMetrics.Kind(path: path)
        let start = ContinuousClock.now
        var reply: Reply
        var id: RequestID?
        var note: String?
        var isCancelled = false
        func problem(_ problem: Problem) -> Reply {
            let own = RequestID(parent: request.headers[.traceParent])
            (id, note) = (own, problem.cause ?? problem.detail)
            return Reply(problem, id: own.span)
        }
        do {
            // Probes ask by whatever name they know, and their answers are the same for all.
            let address = kind == .health ? "" : try hosts.address(for: request)
            let lookup = pictures.find(request, path: path, address: address)
            let isQuick = lookup.kept?.hasAnswered ?? !kind.isPicture
            reply = try await connections.run(on: context.channel, isQuick: isQuick) {
                try await self.reply(to: request, kind, context, lookup)
            }
        } catch let error as Problem {
            reply = problem(error)
        } catch is CancellationError {
            // Nobody reads this response: the client has gone, or the server shuts down.
            reply = problem(Problem(.serviceUnavailable, "The request was cancelled."))
            reply.fields[.connection] = "close"
            isCancelled = true
        } catch let error as LoadError {
            reply = problem(Problem(error))
        }
        let response = reply.response(to: request)
        finish(request, path, kind, context, isCancelled ? nil : response.status.code, response, id, note, start)
        return response
    }

    /// Counts a request and writes its line in the log. The status is `nil` if it was cancelled.
    private func finish(
        _ request: Request, _ path: String, _ kind: RequestMetrics.Kind, _ context: ClientContext, _ status: Int?,
        _ response: Response, _ id: RequestID?, _ note: String?, _ start: ContinuousClock.Instant
    ) {
        let time = ContinuousClock.now - start
        requests.add(kind, status: status, time)
        log.add(status: status) {
            RequestLog.Entry(
                id: id ?? RequestID(parent: request.headers[.traceParent]), method: request.method.rawValue, path: path,
                status: status, bytes: response.body.contentLength ?? 0, time: time,
                client: clients.name(of: request, context.channel), note: note)
        }
    }

    private func reply(
        to request: Request, _ kind: RequestMetrics.Kind, _ context: ClientContext, _ lookup: Plans.Lookup
    ) async throws -> Reply {
        switch request.method {
        case .get, .head: break
        case .options:
            var reply = Reply([])
            reply.status = .noContent
            reply.fields[.allow] = "GET, HEAD, OPTIONS"
            if pictures.isCrossOrigin, kind.isPicture {
                reply.fields[.accessControlAllowOrigin] = "*"
                reply.fields[.accessControlAllowMethods] = "GET, HEAD, OPTIONS"
                reply.fields[.accessControlAllowHeaders] = "*"
                reply.fields[.accessControlMaxAge] = "86400"
            }
            return reply
        case .post, .put, .delete, .patch, .trace, .connect:
            var reply = Reply(Problem(.methodNotAllowed, "Pictures are read with GET or HEAD."))
            reply.fields[.allow] = "GET, HEAD, OPTIONS"
            return reply
        default: throw Problem(.notImplemented, "Pictures are read with GET or HEAD.")
        }
        if !kind.isPicture, let page = try await page(request) { return page }
        try rates.take(for: clients.address(of: request, context.channel))
        return try await pictures.reply(to: request, lookup)
    }

    /// All metrics, as Prometheus reads them.
    var metricsPage: Reply {
        queueLength.record(queue.count)
        return Reply(
            ofThisMoment: metrics.text + process.text, type: "text/plain; version=0.0.4; charset=utf-8")
    }

    /// What is served besides pictures.
    private func page(_ request: Request) async throws -> Reply? {
        switch request.uri.path {
        case "/health/live": return Reply(ofThisMoment: "alive\n", type: "text/plain")
        case "/health/ready":
            // A full queue isn't a reason: work that waits for one slow origin would take all servers out of service.
            guard !lifecycle.isDraining else { throw Problem(.serviceUnavailable, "The server is about to stop.") }
            return Reply(ofThisMoment: "ready\n", type: "text/plain")
        case "/metrics" where !hasMetricsPort: return metricsPage
        default: return try await gallery?.page(request)
        }
    }
}
