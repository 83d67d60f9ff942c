import Essentials
import HTTPTypes
import Pipeline

/// One request of ``CachingClient`` and its response, which comes from the cache, the origin or both.
struct CachingExchange {
    let request: CachingRequest
    /// The fields that reach the origin, except for the cache's own conditions.
    let headers: HTTPFields
    let owner: CachingClient
    /// Whether stored responses may be used.
    private let mayRead: Bool
    var step: CachingStep
    /// The cache, as the holder of a lease may change it.
    var cache: HTTPCache
    /// When the exchange began. What was stored later needs no further confirmation.
    let begun: Date

    var now: Date { cache.clock.now }

    init(_ request: CachingRequest, of owner: CachingClient, mayRead: Bool = true) {
        self.request = request
        self.mayRead = mayRead
        self.owner = owner
        headers = request.mode.fields(request.headers)
        step = CachingStep(url: request.url)
        cache = owner.cache
        begun = owner.cache.clock.now
    }

    mutating func respond() async throws -> CachingResponse {
        guard request.method == .get || request.method == .head, request.body == nil,
            let key = request.key(owner.cache.users.credentials)
        else {
            return try await passThrough()
        }
        guard request.mode.reads, !CacheControl(headers).contains("no-store"), !Preconditions.areForOrigin(in: headers)
        else {
            step.notes.append("the cache is not asked: \(reasonNotToRead)")
            return try await ask(key, nil, use: .none)
        }
        // Shared fetches are looked up in the cache.
        var isShared = isShareable && mayRead
        while true {
            let found =
                mayRead
                ? try await cache.look(
                    key, headers: judged, expiry: .standard, rules: .http, priority: request.priority, isCounted: true,
                    certainSince: begun)
                : .miss(.notAllowed)
            step.lookup = found
            switch CacheDecision(found, mode: request.mode, headers: headers) {
            case .give(let stored, let freshness):
                if let response = response(of: stored, freshness.verdict == .fresh ? .hit : .stale, freshness) {
                    return response
                }
                step.notes.append("the range is the origin's to answer")
                return try await ask(key, nil, use: .miss)
            case .giveAndRevalidate(let stored, let freshness):
                guard let response = response(of: stored, .stale, freshness) else {
                    return try await ask(key, nil, use: .miss)
                }
                step.notes.append("stale-while-revalidate lets it be given while the origin is asked")
                revalidateInBackground(key, stored)
                return withSteps(response)
            case .timeOut:
                step.notes.append("the request wants only a cached response")
                return gatewayTimeout
            case .ask(let stored, let freshness):
                guard isShared else { return try await ask(key, (stored, freshness), use: .miss) }
                if let response = try await share(key, (stored, freshness), &isShared) { return response }
            case .askForAll:
                guard isShared else { return try await ask(key, nil, use: .miss) }
                if let response = try await share(key, nil, &isShared) { return response }
            }
        }
    }

    typealias Judged = (response: StoredResponse, freshness: Freshness)

    /// Asks the origin, unless an equal request is in flight. If so, waits for that and returns `nil`: the cache has to
    /// be looked up again.
    private mutating func share(
        _ key: SourceKey, _ stored: Judged?, _ isShared: inout Bool
    ) async throws -> CachingResponse? {
        switch try await owner.fetches.enter(.init(source: key, headers: headers), priority: request.priority) {
        case .leads(let ticket):
            // Whatever happens, no waiter waits forever.
            defer { owner.fetches.end(ticket, Task.isCancelled ? .cancelled : .notShared) }
            return try await owner.fetches.lead(ticket) { try await lead(key, stored, ticket, &isShared) }
        case .waited(let outcome):
            step.notes.append("an equal request was under way")
            isShared = outcome == .cancelled
            return nil
        }
    }

    /// Whether equal requests may wait for this one. Requests that want a response from the origin itself never do.
    private var isShareable: Bool {
        request.method == .get && request.mode != .noCache && !headers.contains(.range)
            && !headers.contains(.cacheControl) && !Preconditions.areGiven(in: headers)
    }

    /// The fields that stored responses are judged by. The mode counts even if the caller set a `Cache-Control`.
    private var judged: HTTPFields {
        guard request.mode == .noCache else { return headers }
        var judged: HTTPFields = [.cacheControl: "max-age=0"]
        judged.append(contentsOf: headers)
        return judged
    }

    private var reasonNotToRead: String {
        if Preconditions.areForOrigin(in: headers) { return "the request's condition is the origin's to judge" }
        return request.mode.reads ? "the request says no-store" : "the mode is \(request.mode.rawValue)"
    }
}
