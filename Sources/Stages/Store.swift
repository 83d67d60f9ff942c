public import Pipeline

/// Keeps what the load has found and ends it: the product in memory, the fetched response on disk, and beside that what an
/// `Encode` made of it, for ``VariantLookup``.
///
/// It is the last stage, so that bytes that don't decode are never kept.
public struct Store: Stage {
    private let memory: MemoryCache?
    private let responses: HTTPCache?
    private let rules: CacheRules

    /// What is kept: something that was decoded, and perhaps encoded again; or the source's bytes as they came.
    public let accepts: Phases

    /// Stores in those caches that are given. Under ``CacheRules/http`` a request's expiry is not written down.
    public init(_ memory: MemoryCache?, _ responses: HTTPCache?, rules: CacheRules = .asRequested) {
        self.memory = memory
        self.responses = responses
        self.rules = rules
        accepts = [.decoded, .encoded]
        // What becomes invalid on disk has to leave memory as well.
        if let memory { responses?.memories.add(memory) }
    }

    /// Stores what came from the origin without anybody having decoded it; put ``CheckHeader`` before it.
    public init(originals responses: HTTPCache) {
        memory = nil
        self.responses = responses
        rules = .asRequested
        accepts = .original
    }

    /// The final answer.
    public var produces: Phases { .ready }

    /// `http rules`, where they are in force.
    public var parameters: String { accepts == .original ? "originals" : rules == .http ? "http rules" : "" }

    /// Keeps the response, then the product. What can't be kept on disk is answered all the same; what came from there
    /// is reported.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard let product = load.content.product else { return .skipped }
        let terms = await keepResponse(of: load)
        // The flight that fetched is needed no more. Nor is the ticket to be found by whoever gets this load.
        load.detach(SourceTicket.self)
        await load.attachment(SourceLease.self)?.giveBack()
        if let key = load.variantKey, let terms, let memory, mayStore(load) {
            load.note(key: .variant(key))
            memory.insert(
                MemoryEntry(
                    product: product, validity: terms.validity, generation: terms.generation, target: terms.target),
                for: key, now: load.clock.now)
            load.report(.stored(.memory))
            // Looked at only now: what becomes invalid later finds the entry and removes it.
            if let target = terms.target, responses?.isInvalid(target, askedAt: terms.askedAt) == true {
                memory.remove(target: target)
            }
            if !mayStore(load) { memory.remove(key.source) }
        }
        if case .encoded(let image) = load.content, load.attachment(FoundVariant.self) == nil,
            let key = load.variantKey, let generation = terms?.generation
        {
            await responses?.keep(image, as: key, of: generation)
        }
        // Only now is it known to be an image.
        if load.source == .disk, !load.isStale { load.report(.hasCache(product, source: .disk)) }
        load.advance(to: .ready(product))
        return .done
    }

    /// Whether what the load has may be stored: not if its source was removed since the load set out.
    private func mayStore(_ load: Load) -> Bool {
        guard let key = load.sourceKey, let order = load.attachment(FlightOrder.self) else { return true }
        return order.mayStore(key)
    }

    /// Brings the disk up to date and says how long the product holds; `nil` if it may not be kept at all.
    private func keepResponse(of load: Load) async -> StoredTerms? {
        if let fetched = load.attachment(FetchedExchange.self) { return await commit(fetched.exchange, load) }
        if let revalidation = load.attachment(Revalidation.self) { return await freshen(revalidation, load) }
        if let entry = load.attachment(StoredEntry.self)?.response, let responses {
            return StoredTerms(responses.validity(of: entry), of: entry)
        }
        return StoredTerms(.unlimited)
    }

    private func commit(_ exchange: HTTPExchange, _ load: Load) async -> StoredTerms? {
        guard let key = load.sourceKey, let responses else { return nil }
        let expiry = load.request.expiry
        let validity = responses.validity(of: exchange, for: key, expiry: expiry, rules: rules)
        let ticket = load.attachment(SourceTicket.self)
        // Asked before the claim: another member may have set out after the removal.
        guard mayStore(load) else { return nil }
        guard ticket?.claim() ?? true else { return validity.map { StoredTerms($0, of: exchange, stored: nil) } }
        defer { ticket?.stored() }
        guard !responses.isInvalid(exchange.url.targetText, askedAt: exchange.requestTime) else {
            return nil
        }
        let commit = { @Sendable in await responses.commit(exchange, for: key, expiry: expiry, rules: rules) }
        // Those that share the fetch rely on this load to store it, so its cancellation doesn't end that.
        let stored = ticket == nil ? await commit() : await Task(operation: commit).value
        if stored != nil, !mayStore(load) {
            await responses.remove(key)
            return nil
        }
        if stored != nil { load.report(.stored(.disk)) }
        return validity.map { StoredTerms($0, of: exchange, stored: stored) }
    }

    private func freshen(_ revalidation: Revalidation, _ load: Load) async -> StoredTerms? {
        guard let responses, mayStore(load) else { return nil }
        let ticket = load.attachment(SourceTicket.self)
        guard ticket?.claim() ?? true else {
            return StoredTerms(
                responses.validity(of: revalidation.stored), of: revalidation.stored,
                askedAt: revalidation.requestTime)
        }
        let stored = await responses.freshen(
            revalidation.stored, with: revalidation.headers, requestHeaders: revalidation.requestHeaders,
            requestTime: revalidation.requestTime, responseTime: revalidation.responseTime,
            expiry: load.request.expiry, rules: rules)
        ticket?.stored()
        return StoredTerms(responses.validity(of: stored), of: stored, askedAt: revalidation.requestTime)
    }
}
