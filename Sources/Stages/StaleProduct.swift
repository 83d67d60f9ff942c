import PipelineHTTP
import Pipeline

/// A product from memory that is past its freshness.
struct StaleProduct: LoadAttachment {
    let product: Product
    /// The generation of the stored response that the product was made from; `nil` where none was stored.
    let generation: Int64?
    /// Whether it may be given where the origin can't be reached.
    let mayStandIn: Bool

    init(_ entry: MemoryEntry, mayStandIn: Bool) {
        product = entry.product
        generation = entry.generation
        self.mayStandIn = mayStandIn
    }

    /// Whether the product was made from a stored response.
    func isMade(from response: StoredResponse) -> Bool { generation == response.generation }
}
