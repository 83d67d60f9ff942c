import Pipeline

/// A product from memory that is past its freshness, and may be given where the origin can't be reached.
struct StaleProduct: LoadAttachment {
    let product: Product

    init(_ product: Product) { self.product = product }
}
