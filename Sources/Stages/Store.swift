import Essentials
import PipelineHTTP
public import Pipeline

/// Stores the load's results and ends it: the product goes to memory, the fetched response to the tiers of responses, and
/// the result of an `Encode` next to it in the nearest tier, for ``Results``.
///
/// What was found in a farther tier is stored in the nearer ones too. A tier whose leases fence it, such as a fleet's, takes
/// a response only from the load that holds the lease: see ``Lease``.
///
/// A redirect that ``FollowRedirects`` follows is stored too.
///
/// It is the last stage, so that bytes that don't decode are never stored.
public struct Store: KeyedStage, CredentialStage, ClockedStage {
    private let memory: MemoryCache?
    /// The nearest first.
    private let tiers: [HTTPCache]
    private let rules: CacheRules

    /// Whether it stores the source's bytes as they came.
    private let storesOriginals: Bool

    /// The stage with the tier of `far` too, if there is one.
    package static func specification(
        _ resources: PipelineResources, _ name: String = "store",
        _ summary: String = "Keeps the response on disk and the result in memory; the last stage.",
        and far: @escaping @Sendable () throws -> HTTPCache? = { nil }
    ) -> StageSpecification {
        StageSpecification(
            name, summary, .rules,
            .optional("originals", .flag, "Keeps responses without decoding them.", default: false)
        ) { rules, originals in
            let tiers = [resources.responses, try far()].compactMap(\.self)
            return originals
                ? Store(nil, tiers, .asRequested, storesOriginals: true)
                : Store(resources.memory, tiers, rules)
        }
    }

    /// Stores in the given caches.
    /// - Parameters:
    ///   - memory: Takes the product.
    ///   - tiers: Take the response, the nearest tier first. Without one, a fetched image stays in memory for the
    ///     lifetime that HTTP and the request's expiry give it.
    ///   - rules: Under `CacheRules.http`, a request's expiry isn't stored.
    public init(_ memory: MemoryCache?, _ tiers: HTTPCache?..., rules: CacheRules = .asRequested) {
        self.init(memory, tiers.compactMap(\.self), rules)
    }

    /// Stores responses of the origin without decoding them, in the nearest tier first. Put `CheckHeader` before it.
    public init(originals tiers: HTTPCache...) { self.init(nil, tiers, .asRequested, storesOriginals: true) }

    private init(
        _ memory: MemoryCache?, _ tiers: [HTTPCache], _ rules: CacheRules, storesOriginals: Bool = false
    ) {
        (self.memory, self.tiers, self.rules, self.storesOriginals) = (memory, tiers, rules, storesOriginals)
        // Responses that become invalid on disk must leave memory as well.
        if let memory { tiers.first?.register(memory) }
    }

    /// The same stage, which stores in one more tier, the farthest.
    package func adding(_ tier: HTTPCache) -> Store {
        Store(memory, tiers + [tier], rules, storesOriginals: storesOriginals)
    }

    private var nearest: HTTPCache? { tiers.first }

    /// A decoded image, perhaps encoded again, or the source's bytes as they came; and a redirect.
    public var accepts: Phases { storesOriginals ? [.redirected, .original] : [.redirected, .decoded, .encoded] }

    /// The final product, or a redirect.
    public var produces: Phases { [.redirected, .ready] }

    public var needs: Set<ResponseState.Kind> {
        Set(ResponseState.Kind.allCases).subtracting(storesOriginals ? [.unknown] : [])
    }

    public var storesResult: Bool { true }

    /// The fields of the nearest tier.
    package var credentials: CredentialFields { nearest?.users.credentials ?? CredentialFields([]) }

    /// The clock of the nearest tier.
    package var cacheClock: (any LoadClock)? { nearest?.clock }

    public var parameters: String {
        let first = storesOriginals ? "originals" : rules.text
        let names = tiers.filter { $0.source != .disk }.map { tier -> String in "\(tier.source)" }
        return ([first] + names).filter { !$0.isEmpty }.joined(separator: ", ")
    }

    public var identity: StageIdentity? {
        StageIdentity("\(rules), \(storesOriginals), \(memory != nil)", over: (memory.map { [$0] } ?? []) + tiers)
    }

    /// Stores the response, then the product. If a tier fails, the load still succeeds. An image from the disk is
    /// reported as a cache hit.
    public func run(_ load: inout Load) async throws -> Outcome {
        let right = load.attachment(WriteRight.self)
        guard let product = load.content.product else {
            let terms = await keepResponse(of: load, right)
            if terms == nil || right?.isRefused == true { load.refuseRedirect() }
            load.detach(WriteRight.self)
            return .done
        }
        let terms = await keepResponse(of: load, right)
        // The fetch's flight isn't needed any more, and no load that gets this one's result may hold its right.
        load.detach(WriteRight.self)
        let targets = (terms?.origins.map(\.target) ?? []) + [load.request.source.fileTarget].compactMap(\.self)
        let tags = load.request.tags.map { ResponseTags.target($0) }.filter { !targets.contains($0) }
        let facts = ResponseFacts(targets: targets + tags, load.response.headers, askedAt: terms?.askedAt)
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
            nearest?.touch(evicted)
            load.report(.stored(.memory))
            // Checked only now: a later invalidation finds the entry and removes it.
            for origin in terms.origins where nearest?.isInvalid(origin.target, askedAt: origin.since) == true {
                memory.remove(target: origin.target)
            }
            if let askedAt = terms.askedAt {
                for tag in tags where nearest?.isInvalid(tag, askedAt: askedAt) == true { memory.remove(target: tag) }
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
            await nearest?.keep(image, as: key, of: generation)
        }
        // Only now are the bytes known to be an image.
        if load.source == .disk, load.response.kind == .fresh || !load.isStale {
            load.report(.hasCache(product, source: .disk))
        }
        load.advance(to: .ready(product))
        return .done
    }

    /// Updates the tiers and returns how long the product is valid; `nil` if it may not be stored at all.
    private func keepResponse(of load: Load, _ right: WriteRight?) async -> StoredTerms? {
        let kept = KeptResponse(load, rules, policy: nearest?.policy ?? StoringPolicy())
        guard kept.isNew(to: nearest) else {
            await right?.end()
            let terms = kept.terms(in: nearest)
            if let terms { await add(kept.missingTags, to: kept, terms) }
            return terms
        }
        // Checked before the claim, since another member may have begun after the removal.
        guard load.mayStore else {
            await right?.end()
            return nil
        }
        // Of several loads that share a fetch, the first one writes. The others calculate what it has written.
        guard right?.claim() ?? true else {
            let terms = kept.terms(in: nearest)
            if let terms, right?.leave(kept.missingTags) != true { await add(kept.missingTags, to: kept, terms) }
            return terms
        }
        // The loads that share the fetch rely on this one to store it, so a cancellation doesn't stop the writing.
        let terms = right == nil ? await write(kept, nil) : await Task { await write(kept, right) }.value
        await right?.end()
        var tags = terms == nil ? [] : kept.missingTags
        repeat {
            if let terms { await add(tags, to: kept, terms) }
            tags = right?.stored() ?? []
        } while !tags.isEmpty
        if !load.mayStore {
            if let key = kept.key { await nearest?.remove(key) }
            return nil
        }
        if terms == nil { refuse(load, askedAt: kept.terms(in: nearest)?.askedAt, right) }
        return terms
    }

    /// Gives the stored response tags in every tier: they belong to it, whichever load has fetched it.
    private func add(_ tags: Set<String>, to kept: KeptResponse, _ terms: StoredTerms) async {
        guard !tags.isEmpty, let key = kept.key, let target = kept.target, let askedAt = terms.askedAt else { return }
        for tier in tiers { await tier.add(tags, to: key, headers: kept.headers, from: target, askedAt: askedAt) }
    }

    /// Removes the images that loads of other sizes have made from a response that may not be stored.
    private func refuse(_ load: Load, askedAt: Date?, _ right: WriteRight?) {
        // Later loads see this.
        right?.refuse()
        guard let source = load.variantKey?.source, let askedAt else { return }
        memory?.remove(source, askedBefore: askedAt, now: load.clock.now)
    }

    /// Stores the response in all tiers.
    /// - Returns: The terms by the nearest one; `nil` if it may not be stored there.
    private func write(_ kept: KeptResponse, _ right: WriteRight?) async -> StoredTerms? {
        // More wait for a farther tier than for a nearer one.
        for tier in tiers.dropFirst().reversed() {
            let hold = right?.hold(of: tier)
            if hold != nil || tier.leases?.isFencing != true { _ = await kept.write(to: tier, hold) }
        }
        guard let nearest else { return kept.terms(in: nil) }
        return await kept.write(to: nearest, right?.hold(of: nearest))
    }
}

extension Load {
    /// Whether the load's results may be stored: not if its source was removed since the load began.
    var mayStore: Bool {
        guard let sourceKey, let start = attachment(LoadStart.self) else { return true }
        return start.mayStore(sourceKey) && (variantKey.map { start.mayStore($0.source) } ?? true)
    }
}
