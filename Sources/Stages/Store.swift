import PipelineHTTP
public import Pipeline

/// Stores the load's results and ends it: the product goes to memory, the fetched response to disk, and next to it the
/// result of an `Encode`, for ``VariantLookup``.
///
/// It is the last stage, so that bytes that don't decode are never stored.
public struct Store: Stage, CredentialStage, ClockedStage {
    private let memory: MemoryCache?
    private let responses: HTTPCache?
    private let rules: CacheRules

    /// A decoded image, perhaps encoded again; or the source's bytes as they came.
    public let accepts: Phases

    package static func specification(_ resources: PipelineResources) -> StageSpecification {
        StageSpecification(
            "store", "Keeps the response on disk and the result in memory; the last stage.", .rules,
            .optional("originals", .flag, "Keeps responses without decoding them.", default: false)
        ) { rules, originals in
            originals
                ? Store(originals: resources.responses) : Store(resources.memory, resources.responses, rules: rules)
        }
    }

    /// Stores in the given caches. Without a cache of responses, a fetched image stays in memory for the lifetime that
    /// HTTP and the request's expiry give it. Under `CacheRules.http`, a request's expiry isn't stored.
    public init(_ memory: MemoryCache?, _ responses: HTTPCache?, rules: CacheRules = .asRequested) {
        self.memory = memory
        self.responses = responses
        self.rules = rules
        accepts = [.decoded, .encoded]
        // Responses that become invalid on disk must leave memory as well.
        if let memory { responses?.register(memory) }
    }

    /// Stores responses of the origin without decoding them. Put `CheckHeader` before it.
    public init(originals responses: HTTPCache) {
        memory = nil
        self.responses = responses
        rules = .asRequested
        accepts = .original
    }

    /// The final product.
    public var produces: Phases { .ready }

    /// A response, if the stage stores only responses.
    public var needs: Set<ResponseState.Kind> {
        Set(ResponseState.Kind.allCases).subtracting(accepts == .original ? [.unknown] : [])
    }

    /// The stage stores the result.
    public var storesResult: Bool { true }

    /// The stage uses the load's keys.
    public var needsIdentity: Bool { true }

    /// The fields of the cache.
    package var credentials: CredentialFields { responses?.users.credentials ?? CredentialFields([]) }

    /// The clock of the cache.
    package var cacheClock: (any LoadClock)? { responses?.clock }

    /// `http rules`, if they apply.
    public var parameters: String { accepts == .original ? "originals" : rules.text }

    /// Stores the response, then the product. If the disk fails, the load still succeeds. An image from the disk is
    /// reported as a cache hit.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard let product = load.content.product else { return .skipped }
        let right = load.attachment(WriteRight.self)
        let terms = await keepResponse(of: load, right)
        // The fetch's flight isn't needed any more, and no load that gets this one's result may hold its right.
        load.detach(WriteRight.self)
        await right?.end()
        let facts = ResponseFacts(
            targets: (terms?.origins.map(\.target) ?? []) + [load.request.source.fileTarget].compactMap(\.self),
            load.response.headers, askedAt: terms?.askedAt)
        load.settle(
            facts,
            until: terms.map { $0.validity.end(for: load.request.expiry, under: rules) } ?? load.clock.now)
        if let key = load.variantKey, let terms, let memory, load.mayStore {
            load.note(key: .variant(key))
            let evicted = memory.keep(
                MemoryEntry(
                    product: product, validity: terms.validity, generation: terms.generation, facts: facts,
                    askedAt: terms.askedAt),
                for: key, now: load.clock.now)
            responses?.touch(evicted)
            load.report(.stored(.memory))
            // Checked only now: a later invalidation finds the entry and removes it.
            for origin in terms.origins where responses?.isInvalid(origin.target, askedAt: origin.since) == true {
                memory.remove(target: origin.target)
            }
            if !load.mayStore { memory.remove(key.source) }
            // The load that wrote for all that share the fetch may have found a newer response meanwhile.
            if right?.isRefused == true, let askedAt = terms.askedAt {
                memory.remove(key.source, askedBefore: askedAt, now: load.clock.now)
            }
        }
        if case .encoded(let image) = load.content, !image.isKept, let key = load.variantKey,
            let generation = terms?.generation
        {
            await responses?.keep(image, as: key, of: generation)
        }
        // Only now are the bytes known to be an image.
        if load.source == .disk, load.response.kind == .fresh || !load.isStale {
            load.report(.hasCache(product, source: .disk))
        }
        load.advance(to: .ready(product))
        return .done
    }

    /// Updates the disk and returns how long the product is valid; `nil` if it may not be stored at all.
    private func keepResponse(of load: Load, _ right: WriteRight?) async -> StoredTerms? {
        let redirects = load.arrival?.followed ?? []
        guard [.fetched, .confirmed].contains(load.response.kind) || !redirects.allSatisfy(\.isStored) else {
            return await keepAll(load, redirects, writes: false)
        }
        // Checked before the claim, since another member may have begun after the removal.
        guard load.mayStore else { return nil }
        // Of several loads that share a fetch, the first one writes. The others calculate what it has written.
        let writes = right?.claim() ?? true
        defer { if writes { right?.stored() } }
        let keep = { @Sendable in await keepAll(load, redirects, writes: writes) }
        // The loads that share the fetch rely on this one to store it, so a cancellation doesn't stop the writing.
        let terms = right == nil || !writes ? await keep() : await Task(operation: keep).value
        if writes, !load.mayStore {
            for key in Set([load.sourceKey, load.arrival?.key].compactMap(\.self)) {
                await responses?.remove(key)
            }
            return nil
        }
        if writes, terms == nil { await refuse(load, redirects, right) }
        return terms
    }

    /// Removes the images that loads of other sizes have made from a response that may not be stored.
    private func refuse(_ load: Load, _ redirects: [FollowedRedirect], _ right: WriteRight?) async {
        // Later loads see this.
        right?.refuse()
        guard let source = load.sourceKey, let askedAt = await keepAll(load, redirects, writes: false)?.askedAt else {
            return
        }
        memory?.remove(source, askedBefore: askedAt, now: load.clock.now)
    }

    private func keepAll(_ load: Load, _ redirects: [FollowedRedirect], writes: Bool) async -> StoredTerms? {
        var terms = await keepLast(load, writes: writes)
        for redirect in redirects {
            // If a redirect can't be stored, its target can't be either, since it would be found without the redirect.
            guard let behind = await keep(redirect, load, writes: writes) else {
                terms = nil
                continue
            }
            terms = terms?.behind(behind)
        }
        return terms
    }

    /// Stores the response that the product was made from.
    private func keepLast(_ load: Load, writes: Bool) async -> StoredTerms? {
        let trail = load.arrival
        switch load.response {
        case .fetched(let exchange):
            let key = trail.map(\.key) ?? load.sourceKey
            let terms = await commit(exchange, key, within: trail?.within ?? [], load, writes: writes)
            if terms?.generation != nil, writes { load.report(.stored(.disk)) }
            return terms
        case .confirmed(let stored, let update):
            return await freshen(stored, by: update, within: trail?.within, load, writes: writes)
        case .fresh, .stale, .unknown: break
        }
        if let stored = load.storedOriginal { return StoredTerms(stored, policy) }
        // Bytes from a custom stage have no known lifetime, and mustn't be kept for ever.
        return StoredTerms(
            load.request.source.isRemote
                ? .asRequested(load.request.expiry, storedAt: load.clock.now) : .unlimited)
    }

    private func keep(_ redirect: FollowedRedirect, _ load: Load, writes: Bool) async -> StoredTerms? {
        switch redirect {
        case .stored(let response): StoredTerms(response, policy)
        case .confirmed(let stored, let update): await freshen(stored, by: update, within: [], load, writes: writes)
        case .fetched(let exchange, let key): await commit(exchange, key, load, writes: writes)
        }
    }

    private func commit(
        _ exchange: HTTPExchange, _ key: SourceKey?, within redirects: [HTTPExchange] = [], _ load: Load, writes: Bool
    ) async -> StoredTerms? {
        guard let key else { return nil }
        let expiry = load.request.expiry
        if writes, let responses {
            switch await responses.keep(exchange, for: key, expiry: expiry, rules: rules, within: redirects) {
            case .stored(let stored):
                var terms = StoredTerms(of: stored, policy)
                terms.generation = stored.generation
                return terms
            case .refused, .outdated: return nil
            case .unavailable: break
            }
        }
        return policy.draft(exchange, key, within: redirects, now: load.clock.now, expiry, rules)
            .map { StoredTerms(of: $0, policy) }
    }

    private func freshen(
        _ stored: StoredResponse, by update: HTTPExchange, within redirects: [HTTPExchange]?, _ load: Load, writes: Bool
    ) async -> StoredTerms? {
        let expiry = load.request.expiry
        if writes, let responses {
            switch await responses.freshen(stored, by: update, within: redirects, expiry: expiry, rules: rules) {
            case .refused, .outdated: return nil
            case .stored, .unavailable: break
            }
        }
        let merged = policy.merged(stored, by: update, within: redirects, now: load.clock.now, expiry, rules)
        guard policy.mayStay(merged, after: update, within: redirects, expiry, rules) else { return nil }
        var terms = StoredTerms(of: merged, policy)
        terms.generation = merged.generation
        return terms
    }

    /// The rules for what may be stored: the cache's own, or those of a private cache if there is none.
    private var policy: StoringPolicy { responses?.policy ?? StoringPolicy() }
}

extension Load {
    /// Whether the load's results may be stored: not if its source was removed since the load began.
    var mayStore: Bool {
        guard let sourceKey, let order = attachment(FlightOrder.self) else { return true }
        return order.mayStore(sourceKey)
    }
}
