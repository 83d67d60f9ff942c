public import Pipeline

/// A product as the memory cache keeps it, with what tells whether it still holds.
public struct MemoryEntry: Sendable {
    /// Pixels or bytes.
    public let product: Product
    /// Until when the product is fresh.
    public let validity: Validity
    /// The generation of the stored response that the product was made from; `nil` where none was stored.
    public let generation: Int64?
    /// The URL that the response came from, without fragment and user info; `nil` where it came from none.
    public let target: String?

    /// Describes an entry.
    public init(product: Product, validity: Validity, generation: Int64? = nil, target: String? = nil) {
        self.product = product
        self.validity = validity
        self.generation = generation
        self.target = target
    }
}
