import FoundationEssentials
import PipelineHTTP
import Pipeline

/// The response behind a load, with the redirects that led to it, as tiers store them.
struct KeptResponse: Sendable {
    private let load: Load
    private let rules: CacheRules
    /// What may be stored, and for how long, by the rules of the nearest tier.
    private let policy: StoringPolicy
    private let redirects: [FollowedRedirect]

    init(_ load: Load, _ rules: CacheRules, policy: StoringPolicy) {
        self.load = load
        self.rules = rules
        self.policy = policy
        redirects = load.arrival?.followed ?? []
    }

    private var expiry: Expiry { load.request.expiry }
    private var within: [HTTPExchange]? { load.arrival?.within }

    /// Whether the load has anything that a tier doesn't have.
    func isNew(to tier: HTTPCache?) -> Bool {
        switch load.response {
        case .fetched, .confirmed: true
        case .fresh(let stored, _) where !stored.belongs(to: tier): true
        default: !redirects.allSatisfy { $0.isStored(in: tier) }
        }
    }

    // MARK: Terms

    /// The terms by which a tier has stored it, or would.
    func terms(in tier: HTTPCache?) -> StoredTerms? {
        joined(last(in: tier), redirects.map { terms(of: $0, in: tier) })
    }

    private func last(in tier: HTTPCache?) -> StoredTerms? {
        switch load.response {
        case .fetched(let exchange): return drafted(exchange, load.arrival.map(\.key) ?? load.sourceKey, within ?? [])
        case .confirmed(let stored, let update): return terms(of: stored, by: update, within, in: tier)
        case .fresh, .stale, .unknown: break
        }
        if let stored = load.storedOriginal { return terms(of: stored, in: tier) }
        // Bytes from a custom stage have no known lifetime, and mustn't be kept for ever.
        return StoredTerms(
            load.request.source.isRemote
                ? .asRequested(load.request.expiry, storedAt: load.clock.now) : .unlimited)
    }

    private func terms(of redirect: FollowedRedirect, in tier: HTTPCache?) -> StoredTerms? {
        switch redirect {
        case .stored(let stored): terms(of: stored, in: tier)
        case .confirmed(let stored, let update): terms(of: stored, by: update, [], in: tier)
        case .fetched(let exchange, let key): drafted(exchange, key, [])
        }
    }

    /// The terms of a response that a tier has stored, perhaps another one than `tier`.
    private func terms(of stored: StoredResponse, in tier: HTTPCache?) -> StoredTerms {
        var terms = StoredTerms(stored, policy)
        if !stored.belongs(to: tier) { terms.generation = nil }
        return terms
    }

    private func terms(
        of stored: StoredResponse, by update: HTTPExchange, _ within: [HTTPExchange]?, in tier: HTTPCache?
    ) -> StoredTerms? {
        let merged = policy.merged(stored, by: update, within: within, now: load.clock.now, expiry, rules)
        guard policy.mayStay(merged, after: update, within: within, expiry, rules) else { return nil }
        var terms = StoredTerms(of: merged, policy)
        if stored.belongs(to: tier) { terms.generation = merged.generation }
        return terms
    }

    private func drafted(_ exchange: HTTPExchange, _ key: SourceKey?, _ within: [HTTPExchange]) -> StoredTerms? {
        guard let key else { return nil }
        return policy.draft(exchange, key, within: within, now: load.clock.now, expiry, rules)
            .map { StoredTerms(of: $0, policy) }
    }

    private func joined(_ last: StoredTerms?, _ redirects: [StoredTerms?]) -> StoredTerms? {
        // If a redirect can't be stored, its target can't be either, since it would be found without the redirect.
        redirects.reduce(last) { terms, redirect in
            guard let terms, let redirect else { return nil }
            return terms.behind(redirect)
        }
    }

    // MARK: Writing

    /// Stores it in a tier, and ends the lease there.
    /// - Returns: The terms of the tier; `nil` if it may not be stored.
    func write(to tier: HTTPCache, _ hold: (any LeaseHold)?) async -> StoredTerms? {
        let related = tier.related(to: hold)
        var behind: [StoredTerms?] = []
        var isReachable = true
        for redirect in redirects {
            if redirect.isStored(in: tier) {
                behind.append(terms(of: redirect, in: tier))
            } else {
                let kept = await write(redirect, to: related)
                if !kept.isFound { isReachable = false }
                behind.append(terms(after: kept) { terms(of: redirect, in: tier) })
            }
        }
        // Those that wait for it would not find it without its redirects.
        let kept = await writeLast(to: isReachable ? tier.held(by: hold) : related)
        await hold?.end(isStored: isReachable && kept?.response != nil)
        let own = if let kept { terms(after: kept) { last(in: tier) } } else { last(in: tier) }
        return joined(own, behind)
    }

    private func writeLast(to tier: HTTPCache) async -> HTTPCache.Kept? {
        let kept: HTTPCache.Kept?
        switch load.response {
        case .fetched(let exchange):
            guard let key = load.arrival.map(\.key) ?? load.sourceKey else { return .refused }
            kept = await tier.keep(exchange, for: key, expiry: expiry, rules: rules, within: within ?? [])
        case .confirmed(let stored, let update): kept = await write(stored, by: update, within, to: tier)
        case .fresh(let stored, _) where !stored.belongs(to: tier): kept = await copy(stored, to: tier)
        case .fresh, .stale, .unknown: return nil
        }
        if case .stored = kept, load.response.kind != .confirmed, tier.source == .disk { load.report(.stored(.disk)) }
        return kept
    }

    private func write(_ redirect: FollowedRedirect, to tier: HTTPCache) async -> HTTPCache.Kept {
        switch redirect {
        case .stored(let stored): await copy(stored, to: tier)
        case .confirmed(let stored, let update): await write(stored, by: update, [], to: tier)
        case .fetched(let exchange, let key?): await tier.keep(exchange, for: key, expiry: expiry, rules: rules)
        case .fetched: .refused
        }
    }

    /// Brings a stored response up to date. A tier that doesn't have it stores it whole.
    private func write(
        _ stored: StoredResponse, by update: HTTPExchange, _ within: [HTTPExchange]?, to tier: HTTPCache
    ) async -> HTTPCache.Kept {
        if stored.belongs(to: tier) {
            return await tier.freshen(stored, by: update, within: within, expiry: expiry, rules: rules)
        }
        let merged = tier.policy.merged(stored, by: update, within: within, now: load.clock.now, expiry, rules)
        guard let exchange = HTTPExchange(of: merged, for: update.requestHeaders) else { return .refused }
        return await tier.keep(
            exchange, for: stored.key, expiry: expiry, rules: rules, within: within ?? [], behind: merged.redirects)
    }

    /// Stores what another tier has, with the origin's fields and times.
    private func copy(_ stored: StoredResponse, to tier: HTTPCache) async -> HTTPCache.Kept {
        let headers = load.arrival?.selectingFields(load) ?? load.request.headers
        guard let exchange = HTTPExchange(of: stored, for: headers) else { return .refused }
        return await tier.keep(
            exchange.tagged(load.request.tags), for: stored.key, expiry: expiry, rules: rules, behind: stored.redirects)
    }

    /// The terms of what a tier has done; calculated where it is unavailable.
    private func terms(after kept: HTTPCache.Kept, _ calculated: () -> StoredTerms?) -> StoredTerms? {
        switch kept {
        case .stored(let stored):
            var terms = StoredTerms(of: stored, policy)
            terms.generation = stored.generation
            return terms
        case .refused, .outdated: return nil
        case .unavailable: return calculated()
        }
    }
}

extension HTTPCache.Kept {
    /// Whether the tier has the response, or a newer one.
    fileprivate var isFound: Bool {
        switch self {
        case .stored, .outdated: true
        case .refused, .unavailable: false
        }
    }
}

extension StoredResponse {
    /// Whether a tier has stored it. A response of unknown origin counts as the tier's own.
    func belongs(to storing: HTTPCache?) -> Bool { tier == nil || tier === storing?.identity }
}
