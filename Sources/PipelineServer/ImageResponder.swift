import Digests
public import HTTPTypes
public import Metrics
import Pipeline
import PipelineImages
public import Stages
import Synchronization

/// Answers the requests of an image server, whatever web framework it is made with.
///
/// ```swift
/// let folder = SourcePolicy(folder: "pictures")
/// let configuration = try ServerConfiguration(
///     hosts: Hosts(listeningAt: "127.0.0.1"), sources: folder, keys: nil)
/// let responder = ImageResponder(configuration, loader: loader, metrics: NOOPMetricsHandler.instance)
/// let response = await responder.respond(to: request, over: connection)
/// ```
///
/// The framework passes on each request with its connection, and tells when a client is gone. `PipelineHummingbird` does
/// that for Hummingbird. Besides pictures it answers `/health/live` and `/health/ready`.
public final class ImageResponder: Sendable {
    private enum Kind: Sendable {
        case picture(any Dialect)
        case health, other

        var isHealth: Bool { if case .health = self { true } else { false } }
    }

    /// The loader that it was made with.
    public let loader: ImageLoader
    private let dialects: [String: any Dialect]
    private let own: ServedTenant
    private let tenants: [ServedTenant]
    private let connections: Connections
    let queue: WorkQueue
    private let isCrossOrigin: Bool
    private let hosts: Hosts
    private let rates: RateLimit
    private let clients: ClientAddresses
    private let log: RequestLog
    private let requests: RequestMetrics
    private let purgeToken: String?
    private let draining = Atomic<Bool>(false)
    private let pages: @Sendable (HTTPRequest, ImageResponder) async throws -> Reply?

    /// Makes a responder.
    ///
    /// The allocator of the whole program then returns blocks of 1 MB and more at once, as far as it is glibc's: otherwise
    /// a server that is never idle keeps several times the memory that it uses.
    /// - Parameters:
    ///   - configuration: What it serves.
    ///   - loader: Its resources load the sources and keep the results. Its client is asked for allowed sources alone, after
    ///     redirects too; which addresses may be connected to is the client's own rule.
    ///   - metrics: Where requests are counted and timed: `http_requests_total`, `http_request_seconds`,
    ///     `http_abort_seconds` and `http_queue`.
    ///   - log: Gets a line for requests; by default no line.
    public init(
        _ configuration: ServerConfiguration, loader: ImageLoader, metrics: any MetricsFactory,
        log: RequestLog = RequestLog(.none)
    ) {
        returnLargeBlocksAtOnce()
        self.loader = loader
        dialects = Dictionary(configuration.dialects.map { ($0.name, $0) }) { first, _ in first }
        connections = Connections(metrics: metrics)
        queue = WorkQueue(
            limit: configuration.queueLimit,
            originLimit: configuration.originQueueLimit ?? max(1, configuration.queueLimit / 4),
            tenantLimits: Dictionary(
                configuration.tenants.map { ($0.name, $0.queueLimit ?? max(1, configuration.queueLimit / 2)) }
            ) { first, _ in first }, metrics: metrics,
            memory: FreedMemory(clock: loader.resources.clock))
        isCrossOrigin = configuration.isCrossOrigin
        purgeToken = configuration.purgeToken
        (hosts, clients, pages) = (configuration.hosts, configuration.clients, configuration.pages)
        rates = RateLimit(
            perSecond: configuration.requestsPerSecond, burst: configuration.burst, clock: loader.resources.clock)
        own = ServedTenant(configuration, loader: loader, queue: queue)
        tenants = configuration.tenants.map { [queue] in
            ServedTenant(configuration, $0, loader: loader, queue: queue)
        }
        self.log = log
        requests = RequestMetrics(
            kinds: Array(dialects.keys) + ["health", "other"], tenants: tenants.compactMap(\.name), factory: metrics)
    }

    /// The keys that paths of no tenant are signed with now; `nil` where they aren't.
    public var keys: SigningKeys? { own.keys.keys }

    /// Replaces the keys of no tenant, as on SIGHUP.
    public func replaceKeys(_ keys: SigningKeys) { own.keys.replace(keys) }

    /// Replaces the keys, and those of the tenants, as on SIGHUP. Nothing else of the tenants changes: one that is missing can't
    /// sign any more, and a new one needs another responder.
    /// - Parameters:
    ///   - keys: The keys of no tenant; `nil` leaves them as they are.
    ///   - tenants: The tenants with their keys.
    /// - Throws: ``ServerConfigurationError`` if two tenants have a name or a key in common; the keys are as before then.
    public func replaceKeys(_ keys: SigningKeys?, tenants: [Tenant]) throws(ServerConfigurationError) {
        try Tenant.check(tenants, besides: keys ?? self.keys)
        if let keys { own.keys.replace(keys) }
        for served in self.tenants { served.keys.replace(tenants.first { $0.name == served.name }?.keys) }
    }

    /// A host of the configuration's list, for clients that name none, as those of HTTP/1.0 may.
    public var standardHost: String { hosts.standard }

    /// Whether the server is about to stop: `/health/ready` says 503, and connections end with their next response.
    public var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Says that the server is about to stop. It continues to answer.
    public func drain() { draining.store(true, ordering: .relaxed) }

    /// Whether a path is a picture's or a probe's. The pages of the configuration may answer others.
    public func answers(_ path: some StringProtocol) -> Bool {
        if case .other = kind(of: path) { false } else { true }
    }

    /// Answers a request. If the task is cancelled, or the client is gone, its work ends.
    public func respond(to request: HTTPRequest, over connection: ClientConnection) async -> ServerResponse {
        let start = ContinuousClock.now
        let (path, query) = Self.parts(of: request.path ?? "/")
        let kind = kind(of: path)
        var reply: Reply
        var id: RequestID?
        var note: String?
        var isCancelled = false
        var tenant = own
        func problem(_ problem: Problem) -> Reply {
            let own = RequestID(parent: request.headerFields[.traceParent])
            (id, note) = (own, problem.cause ?? problem.detail)
            return Reply(problem, id: own.span)
        }
        do {
            // Probes ask by whatever name they know, and their answers are the same for all.
            let address = kind.isHealth ? "" : try hosts.address(for: request)
            var lookup: Plans.Lookup?
            if case .picture(let dialect) = kind {
                func find(_ tenant: ServedTenant) -> Plans.Lookup {
                    tenant.pictures.find(dialect, request.headerFields, path: path, query: query, address: address)
                }
                let wanted = find(own)
                if let signer = tenants.first(where: { $0.pictures.isSigned(wanted) }) { tenant = signer }
                lookup = tenant.name == nil ? wanted : find(tenant)
            }
            let isQuick = lookup.map { $0.kept?.hasAnswered ?? false } ?? true
            reply = try await connections.run(on: connection.id, isQuick: isQuick) { [lookup, tenant] in
                try await self.reply(to: request, path, kind, connection, lookup, tenant)
            }
        } catch let error as Problem {
            reply = problem(error)
        } catch is CancellationError {
            // Nobody reads this response: the client has gone, or the server shuts down.
            reply = problem(Problem(.serviceUnavailable, "The request was cancelled."))
            reply.fields[.connection] = "close"
            isCancelled = true
        } catch let error as LoadError {
            reply = problem((error.underlying as? OverlayFailure)?.problem ?? Problem(error))
        } catch let error as OverlayFailure {
            reply = problem(error.problem)
        } catch {
            var unknown = Problem(.internalServerError, "The request failed. The server's log says why.")
            unknown.cause = "\(error)"
            reply = problem(unknown)
        }
        let response = reply.response(to: request)
        finish(
            request, path, kind, connection, tenant.name, isCancelled ? nil : response.head.status.code, response, id,
            note, start)
        return response
    }

    /// Tells that a client has closed its connection, or its sending side: its work is cancelled.
    public func inputClosed(on connection: ClientConnection.ID) { connections.inputClosed(connection) }

    /// Tells that a connection is no more. Nothing is remembered of it from then on.
    public func removed(_ connection: ClientConnection.ID) { connections.removed(connection) }

    /// The ThumbHash of a source's picture, as a placeholder in a page.
    /// - Parameter source: A URL, or a file's name in the folder.
    /// - Throws: ``Problem`` for a source that isn't allowed; `LoadError`.
    public func thumbHash(of source: String) async throws -> [UInt8] { try await own.pictures.hash(of: source) }

    /// Splits a request's target (RFC 9112 section 3.2), which may be a whole URL.
    private static func parts(of target: String) -> (path: String, query: String?) {
        var path = target[...]
        if !path.hasPrefix("/"), let authority = path.firstRange(of: "://")?.upperBound {
            path = path[authority...].drop { $0 != "/" && $0 != "?" }
        }
        guard let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (String(path), nil) }
        return (String(path[..<mark]), String(path[path.utf8.index(after: mark)...]))
    }

    private func kind(of path: some StringProtocol) -> Kind {
        let component = path.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") }
        let name = String(decoding: component, as: UTF8.self)
        if let dialect = dialects[name] { return .picture(dialect) }
        return name == "health" ? .health : .other
    }

    private func name(of kind: Kind) -> String {
        switch kind {
        case .picture(let dialect): dialect.name
        case .health: "health"
        case .other: "other"
        }
    }

    /// Counts a request and writes its line in the log. The status is `nil` if it was cancelled.
    private func finish(
        _ request: HTTPRequest, _ path: String, _ kind: Kind, _ connection: ClientConnection, _ tenant: String?,
        _ status: Int?, _ response: ServerResponse, _ id: RequestID?, _ note: String?, _ start: ContinuousClock.Instant
    ) {
        let time = ContinuousClock.now - start
        let isFallback = response.head.headerFields[.fallbackImage] != nil
        requests.add(name(of: kind), tenant: tenant, status: status, isFallback: isFallback, time)
        log.add(status: status, isFallback: isFallback) {
            RequestLog.Entry(
                id: id ?? RequestID(parent: request.headerFields[.traceParent]), method: request.method.rawValue,
                path: path, status: status, bytes: response.body.bytes.count, time: time,
                client: clients.name(of: request, connection), tenant: tenant,
                note: isFallback ? "The source can't be loaded, and the fallback stands in." : note)
        }
    }

    private func reply(
        to request: HTTPRequest, _ path: String, _ kind: Kind, _ connection: ClientConnection, _ lookup: Plans.Lookup?,
        _ tenant: ServedTenant
    ) async throws -> Reply {
        switch request.method {
        case .get, .head: break
        case .options:
            var reply = Reply([], Reply.shared)
            reply.status = .noContent
            reply.fields[.allow] = "GET, HEAD, OPTIONS"
            if isCrossOrigin, lookup != nil {
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
        case let method where method.rawValue == "PURGE" && purgeToken != nil:
            return try await purge(request, connection, lookup, tenant.pictures)
        default: throw Problem(.notImplemented, "Pictures are read with GET or HEAD.")
        }
        guard let lookup else { return try await page(request, path, connection) }
        try rates.take(for: clients.address(of: request, connection))
        try tenant.takeToken()
        return try await tenant.pictures.reply(to: request, lookup)
    }

    /// Removes a path's source from the caches, by the method that several proxies have for it.
    private func purge(
        _ request: HTTPRequest, _ connection: ClientConnection, _ lookup: Plans.Lookup?, _ pictures: Pictures
    ) async throws -> Reply {
        try rates.take(for: clients.address(of: request, connection))
        guard let purgeToken, isAuthorized(request, by: purgeToken) else {
            var reply = Reply(Problem(.unauthorized, "Send the token of this server: Authorization: Bearer TOKEN."))
            reply.fields[.wwwAuthenticate] = "Bearer"
            return reply
        }
        guard let lookup else { throw Problem(.notFound, "There is no picture at this path.") }
        try await pictures.purge(lookup)
        var reply = Reply(ofThisMoment: "", type: "text/plain")
        reply.status = .noContent
        return reply
    }

    /// Whether a request has the token (RFC 6750 section 2.1). How long the comparison takes tells nothing of its text.
    private func isAuthorized(_ request: HTTPRequest, by token: String) -> Bool {
        let words = (request.headerFields[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return false }
        return AuthenticationCode.areEqual(Array(words[1].utf8), Array(token.utf8))
    }

    /// What is served besides pictures.
    private func page(_ request: HTTPRequest, _ path: String, _ connection: ClientConnection) async throws -> Reply {
        switch path {
        case "/health/live": return Reply(ofThisMoment: "alive\n", type: "text/plain")
        case "/health/ready":
            // A full queue isn't a reason: work that waits for one slow origin would take all servers out of service.
            guard !isDraining else { throw Problem(.serviceUnavailable, "The server is about to stop.") }
            return Reply(ofThisMoment: "ready\n", type: "text/plain")
        default:
            if let reply = try await pages(request, self) { return reply }
            try rates.take(for: clients.address(of: request, connection))
            let names = dialects.keys.sorted().map { "/\($0)/" }.joined(separator: ", ")
            throw Problem(.notFound, "The paths of pictures begin with one of \(names).")
        }
    }
}

/// A client's connection.
public struct ClientConnection: Sendable, Identifiable {
    /// Tells connections apart: the identity of the object that a web framework has for each.
    public let id: ObjectIdentifier
    /// The address of the other end, without a port; `nil` if there is none.
    public let address: String?

    /// Makes a connection from what a web framework knows of it.
    public init(_ channel: AnyObject, address: String?) { (id, self.address) = (ObjectIdentifier(channel), address) }
}
