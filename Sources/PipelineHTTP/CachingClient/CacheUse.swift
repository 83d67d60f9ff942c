/// How the cache contributed to a response.
public enum CacheUse: String, Sendable, Hashable {
    /// A stored response, fresh.
    case hit
    /// A stale stored response, allowed by the origin or the caller, or because the origin can't be reached (RFC 9111
    /// section 4.2.4, RFC 5861).
    case stale
    /// A stored response that the origin confirmed with a 304 (RFC 9111 section 4.3.4).
    case revalidated
    /// The origin's response; no stored one could be used.
    case miss
    /// The origin's response; the cache was not used.
    case none
}
