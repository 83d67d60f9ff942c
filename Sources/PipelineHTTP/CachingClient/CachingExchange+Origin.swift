import Essentials
import HTTPTypes
import Pipeline

/// Requests to the origin, and how its responses are used.
extension CachingExchange {
    /// Asks the origin, which may confirm a stored response. The stored response may also stand in for an error.
    /// - Parameter ticket: the registration of this fetch, if others may wait for it.
    mutating func ask(
        _ key: SourceKey, _ stored: Judged?, use: CacheUse, sharing ticket: SharedFetches.Ticket? = nil
    ) async throws -> CachingResponse {
        // A HEAD asks about content other than the stored one.
        let validates = request.method == .get && use != .none
        let sent =
            validates ? stored.map { Preconditions.adding($0.response.headers, to: headers) } ?? headers : headers
        let fetched: OriginResponse
        do {
            fetched = try await fetch(sent, key, sharing: ticket)
        } catch let error as LoadError where error.code == .unreachable || error.code == .timedOut {
            guard let standIn = standIn(for: error, stored) else { throw error }
            return standIn
        }
        if let stored, fetched.status == 304, sent != headers || Preconditions.areGiven(in: headers) {
            switch NotModified(fetched.headers, stored: stored.response.headers, request: headers) {
            case .confirmsStored: return try await confirmed(stored.response, by: fetched, key)
            case .answersCaller: break
            case .concernsAnother:
                step.notes.append("the 304 is about a response other than the stored one: asking for all of it")
                return try await ask(key, nil, use: use, sharing: ticket)
            }
        }
        if let stored, stored.freshness.mayStandIn(for: .status(fetched.status), within: request.staleIfError),
            let response = response(of: stored.response, .stale, stored.freshness)
        {
            step.notes.append("stale-if-error lets it stand in for the \(fetched.status)")
            return withSteps(response)
        }
        await keep(fetched, key, instead: stored?.response)
        if let ticket {
            owner.fetches.end(ticket, step.stored.map { $0.freshness.mayBeServed } == true ? .stored : .notShared)
        }
        return response(of: fetched, use)
    }

    /// Returns the response for an origin that can't be reached: the stored one, or a 504 if that must not be served
    /// stale (RFC 9111 sections 4.2.4 and 5.2.2.2); `nil` to throw the error.
    private mutating func standIn(for error: LoadError, _ stored: Judged?) -> CachingResponse? {
        guard let stored else { return nil }
        step.notes.append("the origin can't be reached: \(error.message)")
        if stored.freshness.mayStandIn(for: .unreachable, within: request.staleIfError) {
            return response(of: stored.response, .stale, stored.freshness)
        }
        let control = CacheControl(response: stored.response.headers, isShared: cache.isShared)
        guard control.forbidsStale(cache.isShared) else { return nil }
        step.notes.append("the stored response says that it must not be served stale")
        return gatewayTimeout
    }

    /// Sends a request that is not for a cache, and invalidates the responses that it may have changed (RFC 9111
    /// section 4.4).
    mutating func passThrough() async throws -> CachingResponse {
        step.notes.append("a \(request.method.rawValue) goes straight to the origin")
        let fetched = try await fetch(headers, nil, sharing: nil)
        for url in Invalidation.urls(
            method: request.method, target: request.url, status: fetched.status, headers: fetched.headers)
        {
            let count = await cache.remove(url: url)
            if count > 0 {
                step.notes.append("\(count) stored under \(redactedURL(url.absoluteString)) became invalid")
            }
        }
        // RFC 9110 section 9.3.3: a response to POST may answer a later GET of its URL. It is newer than the responses
        // that the POST has just invalidated.
        if request.method == .post, let key = request.key(owner.cache.users.credentials) {
            await store(fetched, key, validSince: now)
        }
        return response(of: fetched, .none)
    }

    /// Asks the origin in the background, with every field of the request, to confirm a stored response.
    func revalidateInBackground(_ key: SourceKey, _ stored: StoredResponse) {
        var request = request
        request.method = .get
        // The caller has its response, so only the stored one is asked about.
        for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .range, .ifRange] { request.headers[name] = nil }
        let exchange = CachingExchange(request, of: owner)
        owner.background.start(stored.generation) {
            var exchange = exchange
            // A failure changes nothing: the next request asks again.
            _ = try? await exchange.revalidate(key, stored)
        }
    }

    private mutating func revalidate(_ key: SourceKey, _ stored: StoredResponse) async throws {
        let sent = Preconditions.adding(stored.headers, to: headers)
        let fetched = try await fetch(sent, key, sharing: nil)
        if fetched.status == 304 {
            guard NotModified(fetched.headers, stored: stored.headers, request: [:]) == .confirmsStored else {
                return await cache.evict(stored)
            }
            _ = try await confirmed(stored, by: fetched, key)
        } else {
            await keep(fetched, key, instead: stored)
        }
    }

    private mutating func confirmed(
        _ stored: StoredResponse, by fetched: OriginResponse, _ key: SourceKey
    ) async throws -> CachingResponse {
        step.notes.append("the 304 confirms the stored response")
        let fresh = await freshen(stored, by: fetched)
        guard let response = response(of: fresh, .revalidated, nil) else {
            return try await ask(key, nil, use: .miss)
        }
        var result = withSteps(response)
        result.interim = fetched.interim
        return result
    }

    private func response(of fetched: OriginResponse, _ use: CacheUse) -> CachingResponse {
        CachingResponse(
            status: fetched.status, reason: fetched.reason, headers: fetched.headers, body: fetched.body,
            url: request.url,
            interim: fetched.interim, use: use, steps: [step])
    }

    /// Sends the request and reads the whole response.
    private mutating func fetch(
        _ sent: HTTPFields, _ key: SourceKey?, sharing ticket: SharedFetches.Ticket?
    ) async throws -> OriginResponse {
        step.sent = sent
        let requestTime = now
        let response = try await owner.client.send(request.transfer(sent))
        step.status = response.status
        step.received = response.headers
        var fetched = OriginResponse(response, requestTime: requestTime, responseTime: now)
        if let ticket, !isReusable(fetched, key) {
            owner.fetches.end(ticket, .notShared)
            // Where leases fence the tier, what is stale already can only be stored under one.
            if cache.leases?.isFencing != true { await ticket.hold?.end(isStored: false) }
        }
        for try await chunk in response.body { fetched.body += chunk }
        return fetched
    }

    /// Whether waiters may reuse a response of which only the head has arrived.
    private func isReusable(_ fetched: OriginResponse, _ key: SourceKey?) -> Bool {
        guard fetched.status != 304, let key else { return true }
        var head = fetched.exchange(request, headers)
        head.headers[.contentLength] = nil
        guard let draft = cache.policy.draft(head, key, now: now, .standard, .http) else { return false }
        return Freshness(
            of: draft, for: [:], now: now, expiry: .standard, rules: .http, isShared: cache.isShared
        ).mayBeServed
    }
}
