/// The rules by which the cache judges a response.
public enum CacheRules: Sendable, Hashable {
    /// As the load's `Expiry` says: `.server` means HTTP's rules with the caller's lifetime if the origin gives none,
    /// `.after` a lifetime that was fixed when the response was stored, `.never` no limit.
    case asRequested
    /// By HTTP's rules alone (RFC 9111), whatever the load's `Expiry` says.
    case http
    /// As requested, except that a stale response is served anyway and marked as stale (`LoadResponse.isStale`).
    case offline
}
