import Pipeline

/// A response that `Fetch` left for `Store` to keep.
struct FetchedExchange: LoadAttachment {
    let exchange: HTTPExchange

    init(_ exchange: HTTPExchange) { self.exchange = exchange }
}
