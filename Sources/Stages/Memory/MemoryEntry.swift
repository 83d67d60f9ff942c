import PipelineHTTP
public import FoundationEssentials
public import Pipeline

/// A product as the memory cache keeps it, with what tells whether it still holds.
///
/// ``MemoryLookup`` attaches an entry that is past its freshness to the load. `StaleFirst` reports its product,
/// `RefreshStale` gives it while the origin is asked, and `StaleIfError` gives it where the origin can't be reached.
public struct MemoryEntry: LoadAttachment {
    /// Pixels or bytes.
    public let product: Product
    /// Until when the product is fresh.
    public let validity: Validity
    /// The generation of the stored response that the product was made from; `nil` where none was stored.
    public let generation: Int64?
    /// What the response says of itself.
    let facts: ResponseFacts
    /// When the origin was asked for it; `nil` for what came from none. An entry that was asked for later stays.
    public let askedAt: Date?

    /// Describes an entry.
    public init(
        product: Product, validity: Validity, generation: Int64? = nil, targets: [String] = [],
        askedAt: Date? = nil
    ) {
        self.init(
            product: product, validity: validity, generation: generation, facts: ResponseFacts(targets: targets),
            askedAt: askedAt)
    }

    init(product: Product, validity: Validity, generation: Int64?, facts: ResponseFacts, askedAt: Date?) {
        self.product = product
        self.validity = validity
        self.generation = generation
        self.facts = facts
        self.askedAt = askedAt
    }

    /// The URLs that the response came from, without fragment and user info: its own, and those that redirected to it. Of a
    /// file, `file:` and its path.
    public var targets: [String] { facts.targets }
}

extension Load {
    /// Ends with an image in memory, which is fresh until then.
    mutating func give(_ entry: MemoryEntry, until end: Date?) {
        settle(entry.facts, until: end)
        advance(to: .ready(entry.product), from: .memory)
    }

    /// Notes what is known of the product, which is fresh until then.
    mutating func settle(_ facts: ResponseFacts, until end: Date?) {
        // What never ends, such as a file, has a time that means just that.
        (freshUntil, self.facts) = (end.flatMap { $0 < .distantFuture ? $0 : nil }, facts)
    }
}

extension MemoryEntry {
    /// Whether the product was made from a stored response.
    func isMade(from response: StoredResponse) -> Bool { generation == response.generation }

    /// Whether the product may be given past its freshness where the origin can't be reached.
    func mayStandIn(at now: Date) -> Bool { validity.mayStandIn && !validity.isFromFuture(at: now) }
}
