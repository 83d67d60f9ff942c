import FoundationEssentials
import HTTPTypes
import Pipeline

/// What to do about a request, by what is stored for it: a pure function of both (RFC 9111 section 4).
enum CacheDecision {
    /// Give what is stored; nobody is asked.
    case give(StoredResponse, Freshness)
    /// Give what is stored and ask the origin in the background (RFC 5861 section 3).
    case giveAndRevalidate(StoredResponse, Freshness)
    /// Ask the origin; what is stored may be confirmed by it, or stand in for it.
    case ask(StoredResponse, Freshness)
    /// Ask the origin: nothing is stored.
    case askForAll
    /// Say 504: nothing will do, and the request forbids to ask (section 5.2.1.7).
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
