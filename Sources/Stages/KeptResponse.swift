import Essentials
import HTTPTypes
import PipelineHTTP
import Pipeline

/// The response behind a load, as tiers store it.
struct KeptResponse: Sendable {
    private let load: Load
    private let rules: CacheRules
    /// What may be stored, and for how long, by the rules of the nearest tier.
    private let policy: StoringPolicy
    private let redirects: FollowedRedirects?
    /// The redirects that belong to its own entry; `nil` if the stages before don't know of any.
    private let within: [HTTPExchange]?
    /// What it is stored under.
    let key: SourceKey?

    init(_ load: Load, _ rules: CacheRules, policy: StoringPolicy) {
        self.load = load
        self.rules = rules
        self.policy = policy
        redirects = load.attachment(FollowedRedirects.self)
        within = load.attachment(EntryRedirects.self)?.exchanges
        key = redirects?.key ?? load.sourceKey
    }

    private var expiry: Expiry { load.request.expiry }

    /// Whether the load has anything that a tier doesn't have.
    func isNew(to tier: HTTPCache?) -> Bool {
        switch load.response {
        case .fetched, .confirmed: true
        case .fresh(let stored, _) where !stored.belongs(to: tier): true
        case .fresh, .stale, .unknown: false
        }
    }

    /// The tags of the load that the response lacks, or that copies of it lack, as other machines may have them.
    var missingTags: Set<String> {
        let tags = load.request.tags
        guard !tags.isEmpty else { return [] }
        // What the load has brought has them.
        return switch load.response {
        case .fetched: tags
        case .confirmed(let stored, _), .fresh(let stored, _), .stale(let stored, _):
            tags.subtracting(ResponseTags.tags(in: stored.headers))
        case .unknown: []
        }
    }

    /// The URL that responded; `nil` without a response.
    var target: String? {
        switch load.response {
        case .fetched(let exchange): exchange.url.targetText
        case .confirmed(let stored, _), .fresh(let stored, _), .stale(let stored, _): stored.target
        case .unknown: nil
        }
    }

    /// The fields of the request that select among the stored responses.
    var headers: HTTPFields { Preconditions.removed(from: load.request.headers) }

    // MARK: Terms

    /// The terms by which a tier has stored it, or would, with those of the redirects.
    func terms(in tier: HTTPCache?) -> StoredTerms? { behindRedirects(own(in: tier)) }

    private func own(in tier: HTTPCache?) -> StoredTerms? {
        switch load.response {
        case .fetched, .confirmed: return terms(of: load.response, key, within, in: tier)
        case .fresh, .stale, .unknown: break
        }
        if let stored = load.storedOriginal { return terms(of: stored, in: tier) }
        // Bytes from a custom stage have no known lifetime, and mustn't be kept for ever.
        return StoredTerms(
            load.request.source.isRemote
                ? .asRequested(load.request.expiry, storedAt: load.clock.now) : .unlimited)
    }

    /// If a redirect may not be stored, what is made of its target may not either, since it would be found without the
    /// redirect.
    private func behindRedirects(_ own: StoredTerms?) -> StoredTerms? {
        if redirects?.isRefused == true { return nil }
        return (redirects?.responses ?? []).reduce(own) { terms, redirect in
            guard let terms, let behind = self.terms(of: redirect.response, redirect.key, [], in: nil) else {
                return nil
            }
            return terms.behind(behind)
        }
    }

    private func terms(
        of response: ResponseState, _ key: SourceKey?, _ within: [HTTPExchange]?, in tier: HTTPCache?
    ) -> StoredTerms? {
        switch response {
        case .fetched(let exchange):
            guard let key else { return nil }
            return policy.draft(exchange, key, within: within ?? [], now: load.clock.now, expiry, rules)
                .map { StoredTerms(of: $0, policy) }
        case .confirmed(let stored, let update): return terms(of: stored, by: update, within, in: tier)
        case .fresh(let stored, _), .stale(let stored, _): return terms(of: stored, in: tier)
        case .unknown: return nil
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

    // MARK: Writing

    /// Stores it in a tier, and ends the lease there.
    /// - Returns: The terms of the tier; `nil` if it may not be stored.
    func write(to tier: HTTPCache, _ hold: (any LeaseHold)?) async -> StoredTerms? {
        let kept = await write(to: tier.held(by: hold))
        await hold?.end(isStored: kept?.response != nil)
        guard let kept else { return terms(in: tier) }
        return behindRedirects(terms(after: kept) { own(in: tier) })
    }

    private func write(to tier: HTTPCache) async -> HTTPCache.Kept? {
        let kept: HTTPCache.Kept
        switch load.response {
        case .fetched(let exchange):
            guard let key else { return .refused }
            kept = await tier.keep(exchange, for: key, expiry: expiry, rules: rules, within: within ?? [])
        case .confirmed(let stored, let update): kept = await write(stored, by: update, to: tier)
        case .fresh(let stored, _) where !stored.belongs(to: tier): kept = await copy(stored, to: tier)
        case .fresh, .stale, .unknown: return nil
        }
        if case .stored = kept, load.response.kind != .confirmed, !load.response.isRedirect, tier.source == .disk {
            load.report(.stored(.disk))
        }
        return kept
    }

    /// Brings a stored response up to date. A tier that doesn't have it stores it whole.
    private func write(
        _ stored: StoredResponse, by update: HTTPExchange, to tier: HTTPCache
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
        let headers = Preconditions.removed(from: load.request.headers)
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

extension StoredResponse {
    /// Whether a tier has stored it. A response of unknown origin counts as the tier's own.
    func belongs(to storing: HTTPCache?) -> Bool { tier == nil || tier === storing?.identity }
}
