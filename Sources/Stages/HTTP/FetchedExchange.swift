import Pipeline

/// A response that `Fetch` left for `Store` to keep.
struct FetchedExchange: LoadAttachment {
    let exchange: HTTPExchange
    /// What it is stored under: the load's source, or where redirects led to.
    let key: SourceKey?
    /// The redirects that belong to its entry.
    let within: [HTTPExchange]
}
