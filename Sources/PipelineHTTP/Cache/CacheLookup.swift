public import Pipeline

/// What the cache has for a request.
public enum CacheLookup: Sendable {
    /// A response that may be served without asking the origin.
    case fresh(StoredResponse, Freshness)
    /// A response that the origin has to confirm first; its freshness says when it may be served anyway.
    case stale(StoredResponse, Freshness)
    /// No matching response, and why.
    case miss(CacheMiss)
}

extension CacheLookup {
    /// The response that was found, fresh or stale.
    var judged: (response: StoredResponse, freshness: Freshness)? {
        switch self {
        case .fresh(let response, let freshness), .stale(let response, let freshness): (response, freshness)
        case .miss: nil
        }
    }
}
