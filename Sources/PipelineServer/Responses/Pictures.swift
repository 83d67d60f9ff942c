import Essentials
import HTTPTypes
import Pipeline
import Stages

/// Loads what a request asks for, and makes the reply.
struct Pictures: Sendable {
    private let loader: ImageLoader
    private let plans: Plans
    private let lists: PictureLists
    private let maxAge: Int
    private let failures: RecentFailures
    private let origins = Remembered<String, OriginCacheControl>()

    init(_ configuration: ServerConfiguration, loader: ImageLoader, keys: KeyRing, queue: WorkQueue, partition: String?)
    {
        self.loader = loader
        var resources = loader.resources
        resources.client = GuardedClient(resources.client, configuration.sources)
        failures = RecentFailures(
            for: configuration.errorMaxAge, configuration.lifetimes, clock: resources.clock)
        lists = PictureLists(resources, configuration, queue: queue, failures: failures)
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
            let priority = LoadPriority(request.headerFields[.priority])
            let overlays = try await overlays(of: plan, priority)
            let response = try await load(plan, overlays, priority)
            var reply = try plan.reply(response)
            describe(&reply, response, overlays, expires)
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

    /// The digests of a picture's overlays, mostly from memory.
    private func overlays(of plan: PlannedLoad, _ priority: LoadPriority) async throws -> [LoadResponse] {
        var responses: [LoadResponse] = []
        for request in plan.overlays {
            responses.append(try await overlay(request, through: lists.listOfDigest(), priority))
        }
        return responses
    }

    /// - Throws: `OverlayFailure` or `CancellationError`.
    private func overlay(
        _ request: ImageRequest, through list: ImagePipeline, _ priority: LoadPriority
    ) async throws -> LoadResponse {
        do {
            return try await load(request, through: list, priority)
        } catch let error as LoadError {
            throw OverlayFailure(error: error)
        }
    }

    private func load(
        _ plan: PlannedLoad, _ overlays: [LoadResponse], _ priority: LoadPriority
    ) async throws -> LoadResponse {
        guard let (picture, formats) = plan.overlaid else {
            return try await load(plan.request, through: plan.list, priority)
        }
        let made = zip(plan.overlays, overlays).map { request, response in
            let digest = String(decoding: response.encoded?.bytes ?? [], as: UTF8.self)
            return Overlaid.Overlay(digest: digest) { priority in
                let image = try await overlay(request, through: lists.listOfOverlay(), priority).image
                // Its pixels would be kept as those of the former ones.
                guard let image, image.pixelDigest == digest else {
                    throw OverlayFailure(
                        error: LoadError(
                            .busy, subject: request.source.redacted, "It has changed meanwhile. Ask again.",
                            retryAfter: .seconds(1)))
                }
                return image
            }
        }
        return try await load(
            plan.request, through: lists.list(for: picture.laid(under: made), formats), priority)
    }

    private func load(
        _ request: ImageRequest, through list: ImagePipeline, _ priority: LoadPriority
    ) async throws -> LoadResponse {
        var request = request
        request.priority = priority
        do {
            return try await loader.load(request, through: list)
        } catch let error as LoadError {
            failures.add(error, for: request.source)
            throw error
        }
    }

    /// Writes how long a result may be kept, its age, and where its time went.
    /// - Parameters:
    ///   - overlays: What lies over the picture, which isn't fresh for longer than each of these.
    ///   - expires: When the path stops being valid, in seconds since 1970: no cache gives the result afterwards.
    private func describe(_ reply: inout Reply, _ response: LoadResponse, _ overlays: [LoadResponse], _ expires: Int?) {
        let now = loader.resources.clock.now
        let age = response.confirmedAt.map { max(0, Int(now.timeIntervalSince($0).rounded())) }
        let limit = expires.map { max(0, $0 - Int(now.timeIntervalSince1970)) }
        if response.isFallback { reply.fields.append(HTTPField(name: .fallbackImage, value: "1")) }
        var control = "max-age=\(min(maxAge, limit ?? maxAge))"
        let ends = ([response] + overlays).compactMap(\.freshUntil)
        if let end = ends.min() {
            // Caches measure lifetimes from the origin's response; Age tells them how long ago that was.
            let lifetime = Int(end.timeIntervalSince(now).rounded()) + (age ?? 0)
            let field = response.originCacheControl ?? ""
            let origin =
                overlays.isEmpty
                ? origins.value(field) { OriginCacheControl(field) }
                : OriginCacheControl(ofAll: [field] + overlays.map { $0.originCacheControl ?? "" })
            control =
                origin.field(lifetime: min(max(0, lifetime), 31_536_000), limit: limit.map { $0 + (age ?? 0) })
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
