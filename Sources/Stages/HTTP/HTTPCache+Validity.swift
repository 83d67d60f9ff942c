import FoundationEssentials
import HTTPTypes
import Pipeline

/// What the memory cache has to know of stored responses, so that it keeps the same promises.
extension HTTPCache {
    /// Until when a stored response holds, by each of those who may decide it.
    func validity(of stored: StoredResponse) -> Validity {
        func judged(_ expiry: Expiry, _ rules: CacheRules) -> Freshness {
            Freshness(of: stored, for: [:], now: stored.stored, expiry: expiry, rules: rules, isShared: isShared)
        }
        let server = judged(.server(otherwise: .zero), .asRequested)
        let saysNothing = server.basis == .caller || server.basis == .heuristic || server.basis == .none
        return Validity(
            storedAt: stored.stored, serverUntil: saysNothing ? nil : server.freshUntil,
            httpUntil: judged(.standard, .http).freshUntil, fixedUntil: stored.expires,
            alwaysRevalidates: server.verdict == .noCache, mayStandIn: server.mayBeServedWhenUnreachable)
    }

    /// Until when the answer of an exchange holds; `nil` if it may not be stored anywhere (RFC 9111 section 3).
    func validity(of exchange: HTTPExchange, for key: SourceKey, expiry: Expiry, rules: CacheRules) -> Validity? {
        guard case .storable = Storability(of: exchange, isShared: isShared) else { return nil }
        return validity(of: draft(exchange, key, expiry, rules))
    }
}
