import Essentials
import HTTPTypes
import Pipeline

/// How to respond to a request: a pure function of the request and the cache's lookup (RFC 9111 section 4).
enum CacheDecision {
    /// Serve the stored response without asking the origin.
    case give(StoredResponse, Freshness)
    /// Serve the stored response and ask the origin in the background (RFC 5861 section 3).
    case giveAndRevalidate(StoredResponse, Freshness)
    /// Ask the origin. It may confirm the stored response, which may also stand in for it.
    case ask(StoredResponse, Freshness)
    /// Ask the origin: nothing is stored.
    case askForAll
    /// Respond with 504: no stored response may be served, and the request forbids asking (section 5.2.1.7).
    case timeOut

    init(_ lookup: CacheLookup, mode: CacheMode, headers: HTTPFields) {
        let onlyIfCached = mode == .onlyIfCached || CacheControl(headers).contains("only-if-cached")
        switch lookup {
        case .fresh(let stored, let freshness): self = .give(stored, freshness)
        case .stale(let stored, let freshness):
            if mode == .forceCache || mode == .onlyIfCached {
                self = .give(stored, freshness)
            } else if onlyIfCached {
                self = .timeOut
            } else {
                self =
                    freshness.mayBeServedWhileRevalidating
                    ? .giveAndRevalidate(stored, freshness) : .ask(stored, freshness)
            }
        case .miss: self = onlyIfCached ? .timeOut : .askForAll
        }
    }
}
