import HTTPTypes

/// How a request uses the cache, in the words of the Fetch standard.
public enum CacheMode: String, Sendable, Hashable, CaseIterable {
    /// By HTTP's rules (RFC 9111): a fresh response is served, a stale one is confirmed first.
    case standard = "default"
    /// A stored response is confirmed by the origin first. A response that says it never changes (`immutable`, RFC
    /// 8246) is served as long as it is fresh.
    case noCache = "no-cache"
    /// The cache is neither read nor written.
    case noStore = "no-store"
    /// The cache isn't read; the response replaces what is stored.
    case reload
    /// A stored response is served whatever its age. Without one, the origin is asked.
    case forceCache = "force-cache"
    /// A stored response is served whatever its age. Without one, the response is a 504, and the origin is not asked.
    case onlyIfCached = "only-if-cached"

    /// Returns the request's fields with those that tell other caches on the way the same, unless the caller has set
    /// them.
    func fields(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        switch self {
        case .noCache: if !fields.contains(.cacheControl) { fields[.cacheControl] = "max-age=0" }
        case .noStore, .reload:
            if !fields.contains(.cacheControl) { fields[.cacheControl] = "no-cache" }
            if let pragma = HTTPField.Name("Pragma"), !fields.contains(pragma) { fields[pragma] = "no-cache" }
        case .standard, .forceCache, .onlyIfCached: break
        }
        return fields
    }

    /// Whether the cache is read.
    var reads: Bool { self != .noStore && self != .reload }
}
