package import Pipeline

/// A response that `Fetch` left for `Store` to keep.
package struct FetchedExchange: LoadAttachment {
    package let exchange: HTTPExchange
    /// What it is stored under: the load's source, or where redirects led to.
    package let key: SourceKey?
    /// The redirects that belong to its entry.
    package let within: [HTTPExchange]

    package init(exchange: HTTPExchange, key: SourceKey?, within: [HTTPExchange]) {
        self.exchange = exchange
        self.key = key
        self.within = within
    }
}
