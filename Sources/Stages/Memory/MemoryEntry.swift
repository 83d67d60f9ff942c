import PipelineHTTP
public import Essentials
public import Pipeline

/// A product in the memory cache, with the facts that tell whether it is still valid.
///
/// ``MemoryLookup`` attaches a stale entry to the load. `StaleFirst` reports its product, `RefreshStale` serves it
/// while the origin is asked, and `StaleIfError` serves it if the origin can't be reached.
public struct MemoryEntry: LoadAttachment, CachedImage {
    /// Pixels or bytes.
    public let product: LoadProduct
    /// Until when the product is fresh.
    let validity: Validity
    /// The generation of the stored response that the product was made from; `nil` if none was stored.
    let generation: Int64?
    /// What the response says about itself.
    private(set) var facts: ResponseFacts
    /// When the response was requested from the origin; `nil` without an origin. An entry never replaces one that was
    /// requested later.
    let askedAt: Date?

    /// Describes an entry.
    public init(
        product: LoadProduct, validity: Validity, generation: Int64? = nil, targets: [String] = [],
        askedAt: Date? = nil
    ) {
        self.init(
            product: product, validity: validity, generation: generation, facts: ResponseFacts(targets: targets),
            askedAt: askedAt)
    }

    init(product: LoadProduct, validity: Validity, generation: Int64?, facts: ResponseFacts, askedAt: Date?) {
        self.product = product
        self.validity = validity
        self.generation = generation
        self.facts = facts
        self.askedAt = askedAt
    }

    /// The URLs that the response came from, without fragment and user info: its own, and those that redirected to it.
    /// For a file, `file:` and its path.
    var targets: [String] { facts.targets }

    /// Has removals by more targets find it.
    mutating func add(_ targets: [String]) { facts = ResponseFacts(facts, adding: targets) }

    /// Whether a removal by any of these tags finds it.
    func has(_ tags: Set<String>) -> Bool { tags.allSatisfy { facts.targets.contains(ResponseTags.target($0)) } }
}

extension Load {
    /// Ends the load with an image in memory, which is fresh until `end`.
    mutating func give(_ entry: MemoryEntry, until end: Date?) {
        settle(entry.facts, until: end)
        advance(to: .ready(entry.product), from: .memory)
    }

    /// Notes what is known about the product, which is fresh until `end`.
    mutating func settle(_ facts: ResponseFacts, until end: Date?) {
        // `distantFuture` means for ever, as for a file.
        (freshUntil, self.facts) = (end.flatMap { $0 < .distantFuture ? $0 : nil }, facts)
    }
}

extension MemoryEntry {
    /// Whether the product was made from a stored response.
    func isMade(from response: StoredResponse) -> Bool { generation == response.generation }

    /// Whether the product may be served stale though the origin has failed.
    func mayStandIn(for failure: OriginFailure, in load: Load) -> Bool {
        let now = load.clock.now
        guard validity.mayStandIn, !validity.isFromFuture(at: now) else { return false }
        if failure == .unreachable { return true }
        guard failure.isServers, let time = load.request.staleIfError else { return false }
        return validity.end(for: load.request.expiry, under: .asRequested).map { now < $0 + time.seconds } ?? true
    }
}
