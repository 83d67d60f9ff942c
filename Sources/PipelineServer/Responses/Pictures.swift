import Essentials
import HTTPTypes
import Pipeline
import Stages

/// Loads what a request asks for, and makes the reply.
struct Pictures: Sendable {
    private let loader: ImageLoader
    private let plans: Plans
    private let maxAge: Int
    private let failures: RecentFailures
    private let origins = Remembered<String, OriginCacheControl>()

    /// - Parameter partition: The tenant's name; `nil` for no tenant.
    init(
        _ configuration: ServerConfiguration, loader: ImageLoader, keys: KeyRing, queue: WorkQueue, partition: String?
    ) {
        self.loader = loader
        var resources = loader.resources
        resources.client = GuardedClient(resources.client, configuration.sources)
        failures = RecentFailures(
            for: configuration.errorMaxAge, configuration.lifetimes, clock: resources.clock)
        let lists = PictureLists(resources, configuration, queue: queue, failures: failures)
        plans = Plans(configuration, keys: keys, clock: resources.clock, lists: lists, partition: partition)
        maxAge = Int(configuration.maxAge.components.seconds)
    }

    /// Looks for the plan of a request to this server's address.
    func find(
        _ dialect: any Dialect, _ fields: HTTPFields, path: String, query: String?, address: String
    ) -> Plans.Lookup {
        plans.find(dialect, fields, path: path, query: query, address: address)
    }

    /// Whether the path of a request has a signature of these keys, expired or not.
    func isSigned(_ lookup: Plans.Lookup) -> Bool { plans.isSigned(lookup) }

    /// Makes the reply to a request.
    /// - Throws: `Problem`, `LoadError` or `CancellationError`.
    func reply(to request: HTTPRequest, _ lookup: Plans.Lookup) async throws -> Reply {
        let (plan, expires) = try plans.plan(for: lookup)
        switch plan {
        case .redirect(let location):
            var reply = Reply([], type: "text/plain")
            reply.status = .seeOther
            reply.fields[.location] = location
            return reply
        case .load(let plan):
            let response = try await load(plan, LoadPriority(request.headerFields[.priority]))
            var reply = try plan.reply(response)
            describe(&reply, response, expires)
            return reply
        }
    }

    /// Removes the source of a path, and all its results, from every cache.
    /// - Throws: `Problem` for a path that isn't a picture's.
    func purge(_ lookup: Plans.Lookup) async throws {
        guard case .load(let plan) = try plans.plan(for: lookup).plan else {
            throw Problem(.notFound, "The path leads to another one. Ask for the path of a picture.")
        }
        failures.forget(plan.request.source)
        if case .url(let url) = plan.request.source, plan.request.partition == nil {
            await loader.remove(url)
        } else {
            await loader.remove(plan.request)
        }
    }

    /// The ThumbHash of a source.
    func hash(of source: String) async throws -> [UInt8] {
        let (request, list) = try plans.hash(of: source)
        return try await loader.load(request, through: list).encoded?.bytes ?? []
    }

    private func load(_ plan: PlannedLoad, _ priority: LoadPriority) async throws -> LoadResponse {
        var request = plan.request
        request.priority = priority
        do {
            return try await loader.load(request, through: plan.list)
        } catch let error as LoadError {
            failures.add(error, for: request.source)
            throw error
        }
    }

    /// Writes how long a result may be kept, its age, and where its time went.
    /// - Parameter expires: When the path stops being valid, in seconds since 1970: no cache gives the result afterwards.
    private func describe(_ reply: inout Reply, _ response: LoadResponse, _ expires: Int?) {
        let now = loader.resources.clock.now
        let age = response.confirmedAt.map { max(0, Int(now.timeIntervalSince($0).rounded())) }
        let limit = expires.map { max(0, $0 - Int(now.timeIntervalSince1970)) }
        if response.isFallback { reply.fields.append(HTTPField(name: .fallbackImage, value: "1")) }
        var control = "max-age=\(min(maxAge, limit ?? maxAge))"
        if let end = response.freshUntil {
            // Caches measure lifetimes from the origin's response; Age tells them how long ago that was.
            let lifetime = Int(end.timeIntervalSince(now).rounded()) + (age ?? 0)
            let field = response.originCacheControl ?? ""
            control = origins.value(field) { OriginCacheControl(field) }
                .field(lifetime: min(max(0, lifetime), 31_536_000), limit: limit.map { $0 + (age ?? 0) })
        }
        // Appended rather than set, which would look for earlier ones.
        reply.fields.append(HTTPField(name: .cacheControl, value: control))
        if let age { reply.fields.append(HTTPField(name: .age, value: String(age))) }
        reply.fields.append(HTTPField(name: .serverTiming, value: response.trace.serverTiming))
    }
}

extension LoadPriority {
    /// Reads the urgency of a `Priority` field, from 0 to 7, by default 3 (RFC 9218 section 4.1).
    init(_ field: String?) {
        guard let field else {
            self = .normal
            return
        }
        let members = field.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
        let urgency = members.last { $0.hasPrefix("u=") }?.dropFirst(2).plainNumber
        self =
            switch urgency ?? 3 {
            case 0, 1: .veryHigh
            case 2: .high
            case 3: .normal
            case 4, 5: .low
            default: .veryLow
            }
    }
}

extension HTTPField.Name {
    fileprivate static let serverTiming = name("Server-Timing")
    fileprivate static let priority = name("Priority")
    static let fallbackImage = name("Fallback-Image")
}
