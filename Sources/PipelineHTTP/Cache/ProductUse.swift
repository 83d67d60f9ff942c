public import FoundationEssentials

/// When a product was last used, and the generation of the stored response that it was made from.
public struct ProductUse: Sendable, Hashable {
    /// The generation of the stored response.
    public let generation: Int64
    /// The time of the last use.
    public let time: Date

    /// Describes a use.
    public init(generation: Int64, time: Date) {
        self.generation = generation
        self.time = time
    }
}
