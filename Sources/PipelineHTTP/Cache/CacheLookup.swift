public import Pipeline

/// What the cache has for a request.
public enum CacheLookup: Sendable {
    /// A response that may be given without asking the origin.
    case fresh(StoredResponse, Freshness)
    /// A response that the origin has to confirm first; its freshness says when it may be given all the same.
    case stale(StoredResponse, Freshness)
    /// Nothing that fits, and why.
    case miss(CacheMiss)
}
