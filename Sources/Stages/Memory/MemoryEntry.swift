import PipelineHTTP
public import FoundationEssentials
public import Pipeline

/// A product as the memory cache keeps it, with what tells whether it still holds.
public struct MemoryEntry: Sendable {
    /// Pixels or bytes.
    public let product: Product
    /// Until when the product is fresh.
    public let validity: Validity
    /// The generation of the stored response that the product was made from; `nil` where none was stored.
    public let generation: Int64?
    /// The URLs that the response came from, without fragment and user info: its own, and those that redirected to it. Of a
    /// file, `file:` and its path.
    public let targets: [String]
    /// When the origin was asked for it; `nil` for what came from none. An entry that was asked for later stays.
    public let askedAt: Date?

    /// Describes an entry.
    public init(
        product: Product, validity: Validity, generation: Int64? = nil, targets: [String] = [],
        askedAt: Date? = nil
    ) {
        self.product = product
        self.validity = validity
        self.generation = generation
        self.targets = targets
        self.askedAt = askedAt
    }
}
