/// By which rules the cache judges a response.
public enum CacheRules: Sendable, Hashable {
    /// As the load's `Expiry` says: `.server` means HTTP's rules with a lifetime of the caller's where the origin gives
    /// none, `.after` a lifetime that was fixed as the response was stored, `.never` none at all.
    case asRequested
    /// By HTTP's rules alone (RFC 9111), whatever the load's `Expiry` says.
    case http
    /// As requested; what is past its freshness is given all the same, and is marked as stale (`LoadResponse.isStale`).
    case offline
}
