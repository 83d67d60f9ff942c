import PipelineImages
import PipelineHTTP
import FoundationEssentials
import HTTPTypes
public import Pipeline

/// Fetches the source's bytes from the origin.
///
/// The validators of a stale entry are sent along, so that a 304 can confirm its stored bytes (RFC 9110 section 13).
/// The request's own conditions are left out: their 304 would be of no use here.
///
/// Up to five redirects are followed. Each is a request of its own, with its own entry in the cache. After a
/// ``Lookup`` there, a response that is stored for a later hop is used, or confirmed.
///
/// The response is stored only by ``Store``, at the end of the list, so that bytes that don't decode are never stored.
public struct Fetch: Stage, RequestingStage, ClockedStage {
    private let responses: HTTPCache
    private let client: any HTTPClient
    private let byteLimit: Int
    private static let longestRedirect = 65_536

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            "fetch", "Fetches the source from the origin.", .byteLimit(resources.limits.encodedBytes)
        ) { Fetch(responses: resources.responses, client: resources.client, byteLimit: $0) }
    }

    /// Makes the stage. A client has time limits of its own, such as `CurlClient.Options.totalTimeout`; a ``Timeout`` around
    /// the stage limits all of its requests together.
    /// - Parameters:
    ///   - responses: The cache whose stored responses are confirmed.
    ///   - client: Sends the requests.
    ///   - byteLimit: The most bytes that a body may have; 64 MB by default.
    public init(responses: HTTPCache, client: any HTTPClient, byteLimit: Int = 64_000_000) {
        self.responses = responses
        self.client = client
        self.byteLimit = byteLimit
    }

    /// Asks through `client` for at most `byteLimit` bytes, 64 MB by default.
    @available(*, deprecated, renamed: "init(responses:client:byteLimit:)")
    public init(_ responses: HTTPCache, _ client: any HTTPClient, byteLimit: Int = 64_000_000) {
        self.init(responses: responses, client: client, byteLimit: byteLimit)
    }

    /// Nothing found yet.
    public var accepts: Phases { .empty }

    /// The source's bytes; still nothing for a source that is not remote.
    public var produces: Phases { [.empty, .original] }

    /// A response of the origin, one that it has confirmed, or one that is stored where a redirect leads.
    public var leaves: Set<ResponseState.Kind> { [.fresh, .fetched, .confirmed] }

    /// The rule of the client.
    package var urlRule: URLRule? { client.urlRule }

    /// The clock of the cache.
    package var cacheClock: (any LoadClock)? { responses.clock }

    /// Fetches the bytes.
    /// - Throws: `LoadError` with `httpStatus` for any status but 2xx, `unreachable`, `timedOut`, `tooManyBytes`, and
    ///   `stageFailed` for an error of another type from the client; `CancellationError` if the task is cancelled.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source else { return .skipped }
        try ImageSource.check(url)
        // RFC 9111 section 5.2.1.7.
        if !load.request.headers.isEmpty, CacheControl(load.request.headers).contains("only-if-cached") {
            load.note("the request says only-if-cached")
            return .skipped
        }
        // Before the request leaves, not when it waits: then the origin might know before whoever watches.
        load.report(.sendingRequest(hadCachedImage: load.hasCachedImage))
        do {
            try await fetch(url, &load)
            return .done
        } catch let error where !(error is LoadError || error is CancellationError) {
            throw LoadError(
                .stageFailed, subject: load.subject,
                "The HTTP client failed with an error of its own; see the underlying error.", underlying: error)
        }
    }

    private func fetch(_ url: URL, _ load: inout Load) async throws {
        var trail =
            load.attachment(RedirectTrail.self)
            ?? RedirectTrail(at: url, of: load, credentials: responses.users.credentials)
        // `StaleIfError` has to know how many redirects were followed.
        defer { load.attach(trail) }
        while true {
            let asked = try await ask(trail, load)
            let answer = asked.exchange
            load.note(.answered(status: answer.status))
            if answer.status == 304, let stored = trail.stored {
                guard NotModified(answer.headers, stored: stored.headers, request: [:]) == .confirmsStored else {
                    load.note("the 304 is about another response than the stored one")
                    trail.deny()
                    continue
                }
                if try await goOn(with: answer, confirming: stored, &trail, &load) { return }
                continue
            }
            if let partial = asked.partial, partial.isUseless(after: answer) {
                load.detach(PartialBody.self)
                continue
            }
            if trail.mayFollow(answer) {
                if try await follow(asked, &trail, &load) { return }
                continue
            }
            guard 200..<300 ~= answer.status else {
                if answer.replacesStored, let key = trail.key {
                    await responses.evict(key, for: trail.selectingFields(load), askedAt: answer.requestTime)
                }
                throw LoadError.status(of: answer, reason: asked.response.reason, subject: load.subject)
            }
            return try await take(asked, &trail, &load)
        }
    }

    /// A response whose body is still to come.
    private struct Asked {
        let exchange: HTTPExchange
        let response: TransferResponse
        let partial: PartialBody?
    }

    /// Sends the request of the next hop, with the validators of its stored response and the fields that ask for the
    /// rest of a body that broke off.
    private func ask(_ trail: RedirectTrail, _ load: Load) async throws -> Asked {
        var request = trail.hops.request
        let partial = load.attachment(PartialBody.self).flatMap { $0.exchange.url == request.url ? $0 : nil }
        request.priority = load.priority
        if let stored = trail.stored { request.headers = Preconditions.adding(stored.headers, to: request.headers) }
        if let partial { request.headers.append(contentsOf: partial.conditions) }
        let requestTime = load.clock.now
        let response = try await client.send(request)
        let exchange = HTTPExchange(
            url: response.url, requestHeaders: trail.selectingFields(load), status: response.status,
            headers: response.headers, requestTime: requestTime, responseTime: load.clock.now, body: [])
        return Asked(exchange: exchange, response: response, partial: partial)
    }

    /// Handles a stored response that a 304 has confirmed: takes an image, follows a redirect.
    /// - Returns: Whether there is an image now, rather than another hop to ask.
    private func goOn(
        with update: HTTPExchange, confirming stored: StoredResponse, _ trail: inout RedirectTrail, _ load: inout Load
    ) async throws -> Bool {
        guard !stored.isSuccess else {
            load.detach(PartialBody.self)
            load.arrive(by: &trail)
            // The redirect has moved, and leads to another image than the stale one. It wasn't shown before.
            let known = load.response.stored?.generation ?? stored.generation
            let source: LoadSource = known == stored.generation ? .revalidated : .disk
            load.advance(response: .confirmed(stored, by: update), from: source)
            return true
        }
        let headers = StorableFields.updating(stored.headers, with: update.headers)
        let redirect = await keep(.confirmed(stored, by: update), trail, load)
        guard try trail.follow(redirect, status: stored.status, headers) else {
            throw LoadError(
                .malformedResponse, subject: load.subject, "The origin confirmed a redirect that leads nowhere.")
        }
        return try await lookAhead(&trail, &load)
    }

    /// Follows a redirect that the origin has sent.
    /// - Returns: Whether there is an image now, rather than another hop to ask.
    private func follow(_ asked: Asked, _ trail: inout RedirectTrail, _ load: inout Load) async throws -> Bool {
        var exchange = asked.exchange
        for try await chunk in asked.response.body {
            exchange.body += chunk
            guard exchange.body.count <= Self.longestRedirect else {
                // Reading on costs more than it is worth, and a partial body isn't stored.
                exchange.headers[.cacheControl] = "no-store"
                break
            }
        }
        let redirect = await keep(.fetched(exchange, trail.key), trail, load)
        guard try trail.follow(redirect, status: exchange.status, exchange.headers) else {
            throw LoadError(.malformedResponse, subject: load.subject, "The origin sent a redirect that leads nowhere.")
        }
        return try await lookAhead(&trail, &load)
    }

    /// Stores a redirect at once if the list reads the disk. Whatever it leads to, the next load need not ask again.
    private func keep(_ redirect: FollowedRedirect, _ trail: RedirectTrail, _ load: Load) async -> FollowedRedirect {
        guard let rules = trail.rules(of: responses), load.mayStore else { return redirect }
        let expiry = load.request.expiry
        let kept: HTTPCache.Kept
        switch redirect {
        case .fetched(let exchange, let key?):
            kept = await responses.keep(exchange, for: key, expiry: expiry, rules: rules)
        case .confirmed(let stored, let update):
            kept = await responses.freshen(stored, by: update, within: trail.within, expiry: expiry, rules: rules)
        case .fetched, .stored: return redirect
        }
        return kept.response.map { .stored($0) } ?? redirect
    }

    /// Looks for a stored response to the next hop, if the list reads the cache at all.
    private func lookAhead(_ trail: inout RedirectTrail, _ load: inout Load) async throws -> Bool {
        guard let rules = trail.rules(of: responses),
            case .fresh(let response, let freshness) = try await trail.look(in: responses, rules, for: load)
        else { return false }
        load.note(.redirected(freshness))
        load.detach(PartialBody.self)
        load.giveStored(response, freshness, &trail)
        return true
    }

    /// Reads the image.
    private func take(_ asked: Asked, _ trail: inout RedirectTrail, _ load: inout Load) async throws {
        var exchange = asked.exchange
        let resumed = exchange.status == 206 ? asked.partial : nil
        if let resumed {
            exchange = try resumed.continued(by: exchange)
            load.note(.resumed(from: exchange.body.count))
        } else if exchange.status == 206, load.request.headers[.range] == nil {
            throw LoadError(
                .malformedResponse, subject: load.subject,
                "The origin answered with a part (206) though the whole was asked for.")
        }
        // The partial body is in the exchange now, or outdated.
        load.detach(PartialBody.self)
        try await read(asked.response, into: &exchange, &load)
        try resumed?.checkLength(of: exchange)
        if exchange.url != trail.hops.request.url {
            // The client has followed a redirect by itself. How long that redirect holds is unknown.
            trail.within.append(
                HTTPExchange(
                    url: trail.hops.request.url, status: 302, headers: [:], requestTime: exchange.requestTime,
                    responseTime: exchange.responseTime, body: []))
        }
        load.arrive(by: &trail)
        load.deliver(exchange)
    }

    /// Appends the response's body to the exchange. If it breaks off, the bytes so far are kept for another attempt.
    private func read(
        _ response: TransferResponse, into exchange: inout HTTPExchange, _ load: inout Load
    ) async throws {
        let expected = exchange.headers[.contentLength].flatMap { Int($0) }
        // A header may announce more than there is memory.
        exchange.body.reserveCapacity(max(0, min(expected ?? 0, byteLimit, 64 << 20)))
        do {
            for try await chunk in response.body {
                exchange.body += chunk
                guard exchange.body.count <= byteLimit else {
                    throw LoadError(
                        .tooManyBytes, subject: load.subject,
                        "The body has more than \(byteLimit) bytes. Raise the limit of source bytes.")
                }
                load.report(.progress(received: exchange.body.count, expected: expected))
                load.attachment(ArrivingBytes.self)?.show(exchange.body, of: load)
            }
        } catch let error as LoadError where error.code == .unreachable || error.code == .timedOut {
            if let partial = PartialBody(exchange) { load.attach(partial) }
            throw error
        }
    }
}
