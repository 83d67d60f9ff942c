public import Pipeline

/// A product as the memory cache keeps it, with what tells whether it still holds.
public struct MemoryEntry: Sendable {
    /// Pixels or bytes.
    public let product: Product
    /// Until when the product is fresh.
    public let lifetime: Lifetime
    /// The generation of the stored response that the product was made from; `nil` where none was stored.
    public let generation: Int64?

    /// Describes an entry.
    public init(product: Product, lifetime: Lifetime, generation: Int64? = nil) {
        self.product = product
        self.lifetime = lifetime
        self.generation = generation
    }
}
