/// What the cache had to do with a response.
public enum CacheUse: String, Sendable, Hashable {
    /// A stored response, fresh.
    case hit
    /// A stored response past its freshness, which somebody allowed: the origin, the caller, or the origin's absence
    /// (RFC 9111 section 4.2.4, RFC 5861).
    case stale
    /// A stored response that the origin confirmed with a 304 (RFC 9111 section 4.3.4).
    case revalidated
    /// The origin's answer; nothing that was stored would do.
    case miss
    /// The origin's answer; the cache was not asked.
    case none
}
