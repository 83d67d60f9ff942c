import Essentials
import HTTPTypes
import Pipeline

/// How long stored responses stay valid, so that the memory cache follows the same rules.
extension StoringPolicy {
    /// Until when a stored response is valid, by the server's, HTTP's and the caller's rules.
    package func validity(of stored: StoredResponse) -> Validity {
        func judged(_ expiry: Expiry, _ rules: CacheRules) -> Freshness {
            Freshness(of: stored, for: [:], now: stored.stored, expiry: expiry, rules: rules, isShared: isShared)
        }
        let server = judged(.server(otherwise: .zero), .asRequested)
        let saysNothing = server.basis == .caller || server.basis == .heuristic || server.basis == .none
        // An end that the caller fixed is separate, in `fixedUntil`.
        let serverUntil = server.lifetime.map { stored.stored + ($0 - server.age).seconds }
        return Validity(
            storedAt: stored.stored, originatedAt: stored.stored - server.age.seconds,
            serverUntil: saysNothing ? nil : serverUntil,
            httpUntil: judged(.standard, .http).freshUntil, fixedUntil: stored.expires,
            redirectsUntil: stored.redirects?.until,
            alwaysRevalidates: server.verdict == .noCache, mayStandIn: server.mayBeServedWhenUnreachable)
    }
}
