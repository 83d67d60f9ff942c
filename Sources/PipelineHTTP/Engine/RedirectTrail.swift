package import FoundationEssentials
package import HTTPTypes
package import Pipeline

/// A redirect that a load followed, with what `Store` has to do about it.
package enum FollowedRedirect: Sendable {
    /// It was stored and fresh, or stale and accepted anyway.
    case stored(StoredResponse)
    /// The origin has sent it; `Store` stores it under this key.
    case fetched(HTTPExchange, SourceKey?)
    /// It was stored, and the origin has confirmed it with a 304.
    case confirmed(StoredResponse, by: HTTPExchange)

    /// Whether a tier has it already.
    package func isStored(in tier: HTTPCache?) -> Bool {
        if case .stored(let response) = self { response.tier === tier?.identity } else { false }
    }
}

/// A load's progress through redirects, each of which has its own entry in the cache.
///
/// If the request has an identifier, the whole chain is one entry: a URL in between, which may be signed for this very
/// request, may never be requested again.
///
/// It is not a public attachment: only the lookups and `Fetch` of this package, which share it, can keep it correct.
package struct RedirectTrail: LoadAttachment {
    /// Whether it has led to the load's original. If not, the original came from a fetcher without redirects.
    package fileprivate(set) var hasArrived = false
    /// The redirects that were followed, in their order.
    package var followed: [FollowedRedirect] = []
    /// The redirects that belong to the entry of the last response: all of them where the request has an identifier.
    package var within: [HTTPExchange] = []
    /// The hop that comes next.
    package private(set) var hops: RedirectHops
    /// The key of its response.
    package private(set) var key: SourceKey?
    /// The stored response for it, which the origin has to confirm.
    package var stored: StoredResponse?
    /// The response that may be served if the origin of the next hop fails.
    package private(set) var standIn: StandIn?
    /// Whether the origin has responded to a hop. Images in memory are outdated then.
    package var isAnswered = false
    /// Whether a stored response on the way was stale, but within the request's `max-stale`.
    package private(set) var acceptsStale = false
    /// The tiers that have been looked in, each with its rules: by these, later hops are looked up.
    private var tiers: [(identity: TierIdentity, rules: CacheRules)] = []
    private var lastTier: TierIdentity?
    private let isNamed: Bool

    /// Starts at a load's URL, again if another trail did so before.
    package init(at url: URL, of load: Load, credentials: CredentialFields) {
        tiers = load.attachment(RedirectTrail.self)?.tiers ?? []
        let request = TransferRequest(
            url: url, headers: Preconditions.removed(from: load.request.headers), priority: load.priority,
            partition: load.request.partition)
        hops = RedirectHops(request, credentials: credentials)
        key = load.sourceKey
        isNamed = load.request.identifier != nil
        standIn = StandIn(load.response)
        stored = standIn?.response
    }

    /// The fields by which `Vary` selects among responses to the hop that comes next.
    package func selectingFields(_ load: Load) -> HTTPFields { isNamed ? load.request.headers : hops.request.headers }

    /// Follows a redirect that the origin has sent or confirmed.
    /// - Returns: false if it is not a redirect.
    package mutating func follow(_ redirect: FollowedRedirect, status: Int, _ headers: HTTPFields) throws -> Bool {
        guard try hops.follow(status: status, headers) else { return false }
        isAnswered = true
        if isNamed {
            if case .fetched(let exchange, _) = redirect { within.append(exchange) }
        } else {
            followed.append(redirect)
            move()
        }
        return true
    }

    /// Whether a response of the origin is a redirect.
    package func mayFollow(_ answer: HTTPExchange) -> Bool {
        answer.status.isRedirect && answer.headers.contains(.location)
    }

    /// Forgets the stored response for the next hop, since the origin has said that it has another one.
    package mutating func deny() {
        (stored, standIn) = (nil, nil)
        isAnswered = true
    }

    /// The rules by which stored responses to later hops are looked for in a tier; `nil` not to look there.
    package func rules(of tier: HTTPCache) -> CacheRules? {
        isNamed ? nil : tiers.first { $0.identity === tier.identity }?.rules
    }

    /// Whether it has been followed in a tier.
    package func ends(in tier: HTTPCache) -> Bool { lastTier === tier.identity }

    private mutating func move() {
        key = hops.key()
        (stored, standIn) = (nil, nil)
    }

    /// Follows stored redirects from the next hop on, to a fresh response or to the first hop that the origin has to be
    /// asked about. A response that is stored for a later hop may still stand in.
    package mutating func look(
        in cache: HTTPCache, _ rules: CacheRules, for load: Load, isCounted: Bool = false
    ) async throws -> CacheLookup {
        (stored, standIn) = (nil, nil)
        if !tiers.contains(where: { $0.identity === cache.identity }) { tiers.append((cache.identity, rules)) }
        lastTier = cache.identity
        var ahead = self
        var judged: Freshness?
        while true {
            guard ahead.hops.mayRead(by: load.urlRule) else {
                // The client decides, which may rewrite the URL.
                if judged == nil { self = ahead }
                return .miss(.notAllowed)
            }
            guard let key = ahead.key else { return .miss(.noKey) }
            let found = try await cache.look(
                key, headers: ahead.selectingFields(load), expiry: load.request.expiry, rules: rules,
                priority: load.priority, isCounted: isCounted && ahead.followed.isEmpty)
            guard let (response, freshness) = found.judged else {
                if judged == nil { self = ahead }
                return found
            }
            if freshness.verdict == .acceptedStale { ahead.acceptsStale = true }
            guard response.came(by: load.urlRule) else { return .miss(.notAllowed) }
            let isFirstStale = judged == nil && !freshness.mayBeServed
            if isFirstStale {
                self = ahead
                stored = response
            }
            if isFirstStale || judged != nil { judged = judged.map { $0.together(with: freshness) } ?? freshness }
            if response.isSuccess {
                guard let judged else {
                    self = ahead
                    return found
                }
                standIn = StandIn(response: response, freshness: judged, followed: ahead.followed)
                return .stale(response, judged)
            }
            guard !isNamed, try ahead.hops.follow(status: response.status, response.headers) else {
                if judged == nil { self = ahead }
                if isFirstStale { stored = nil }
                return .miss(.status(response.status))
            }
            ahead.followed.append(.stored(response))
            ahead.move()
        }
    }
}

extension StoredResponse {
    /// Whether all redirects that belong to it lead to URLs that may be asked.
    fileprivate func came(by rule: URLRule?) -> Bool {
        guard let rule, let redirects else { return true }
        return (redirects.targets.dropFirst() + [target]).allSatisfy { URL(string: $0).map(rule) ?? false }
    }
}

extension CacheLookup {
    /// The response that was found, fresh or stale.
    var judged: (response: StoredResponse, freshness: Freshness)? {
        switch self {
        case .fresh(let response, let freshness), .stale(let response, let freshness): (response, freshness)
        case .miss: nil
        }
    }
}

extension Load {
    /// The response that may be served if the origin of the next hop fails.
    package var standIn: StandIn? {
        if let trail = attachment(RedirectTrail.self) { return trail.standIn }
        return StandIn(response)
    }

    /// The trail that has led to the load's original.
    package var arrival: RedirectTrail? {
        guard let trail = attachment(RedirectTrail.self), trail.hasArrived else { return nil }
        return trail
    }

    /// Continues with a stale stored response.
    package mutating func giveStale(_ standIn: StandIn) {
        isStale = true
        if var trail = attachment(RedirectTrail.self) {
            trail.followed = standIn.followed
            arrive(by: &trail)
        }
        advance(response: .stale(standIn.response, standIn.freshness))
        advance(to: .original(standIn.response.encodedImage), from: .disk)
    }

    /// Continues with a stored response that may be served without asking, found at the end of a trail.
    package mutating func giveStored(
        _ response: StoredResponse, _ freshness: Freshness, _ trail: inout RedirectTrail,
        from source: LoadSource = .disk
    ) {
        isStale = trail.acceptsStale
        arrive(by: &trail)
        advance(response: .fresh(response, freshness), from: source)
    }

    /// Notes that a trail has led to the load's original.
    package mutating func arrive(by trail: inout RedirectTrail) {
        trail.hasArrived = true
        attach(trail)
    }
}
