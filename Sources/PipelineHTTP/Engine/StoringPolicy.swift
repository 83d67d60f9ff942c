package import Essentials
import HTTPTypes
package import Pipeline

/// Decides what a cache stores of a response, and for how long: pure functions of the response, the time and the
/// request.
package struct StoringPolicy: Sendable, Hashable {
    /// Whether the cache serves several users in the sense of RFC 9111 section 1.2.3.
    var isShared = false
    /// The users whose requests the cache answers.
    var users = HTTPCache.Users.several
    /// Whether a caller that decides the lifetime overrides a response's `no-store`.
    var overrulesNoStore = false

    package init(
        isShared: Bool = false, users: HTTPCache.Users = HTTPCache.Users.several, overrulesNoStore: Bool = false
    ) {
        self.isShared = isShared
        self.users = users
        self.overrulesNoStore = overrulesNoStore
    }

    /// Whether a response, or a redirect that leads to it, may be stored.
    /// - Parameter isRedirect: Whether it is such a redirect, whose lifetime the caller decides in any case.
    private func mayStore(
        _ exchange: HTTPExchange, _ expiry: Expiry, _ rules: CacheRules, isRedirect: Bool = false
    ) -> Bool {
        let decides = rules.callerDecides(expiry)
        let storability = Storability(
            of: exchange, isShared: isShared, callerDecides: decides || isRedirect,
            overrulesNoStore: decides && overrulesNoStore)
        return storability == .storable
    }

    /// Returns the response to store for an exchange; `nil` if it must not be stored (RFC 9111 section 3).
    /// - Parameter redirects: those that belong to the entry. Every one of them has to be storable, and the entry is
    ///   fresh no longer than any of them.
    package func draft(
        _ exchange: HTTPExchange, _ key: SourceKey, within redirects: [HTTPExchange] = [], now: Date, _ expiry: Expiry,
        _ rules: CacheRules
    ) -> StoredResponse? {
        guard mayStore(exchange, expiry, rules),
            redirects.allSatisfy({ mayStore($0, expiry, rules, isRedirect: true) })
        else { return nil }
        // A redirect may vary too, or be private.
        var selecting = exchange.headers
        for redirect in redirects {
            selecting.append(
                contentsOf: redirect.headers.filtered { $0.name == .vary || $0.name == .cacheControl })
        }
        let response = StoredResponse(
            generation: 0, key: key, target: exchange.url.targetText, status: exchange.status,
            headers: StorableFields.of(exchange.headers, isShared: isShared),
            requestTime: exchange.requestTime.toMicroseconds, responseTime: exchange.responseTime.toMicroseconds,
            stored: now.toMicroseconds, expires: fixedEnd(exchange.status, now, expiry, rules)?.toMicroseconds,
            body: exchange.body,
            // Storability has refused `Vary: *`.
            selecting: SelectingFields(of: selecting, request: exchange.requestHeaders, users: users) ?? .none,
            redirects: stored(redirects, key, now))
        return dated(response, expiry, rules)
    }

    /// Returns the response with the time at which it stops being fresh.
    private func dated(_ response: StoredResponse, _ expiry: Expiry, _ rules: CacheRules) -> StoredResponse {
        var dated = response
        dated.freshUntil =
            Freshness(of: response, for: [:], now: response.stored, expiry: expiry, rules: rules, isShared: isShared)
            .freshUntil?.toMicroseconds
        return dated
    }

    /// Returns a stored response updated by a 304 or by the response to a HEAD (RFC 9111 sections 4.3.4 and 4.3.5).
    /// - Parameter redirects: Those that now belong to the entry; `nil` for the same as before.
    package func merged(
        _ stored: StoredResponse, by update: HTTPExchange, within redirects: [HTTPExchange]? = nil, now: Date,
        _ expiry: Expiry, _ rules: CacheRules
    ) -> StoredResponse {
        let headers = StorableFields.updating(stored.headers, with: update.headers, isShared: isShared)
        let isSelectedAgain =
            headers[values: .vary] != stored.headers[values: .vary]
            || CacheControl(headers).isUnqualified("private") != CacheControl(stored.headers).isUnqualified("private")
        let selecting =
            isSelectedAgain
            ? SelectingFields(of: headers, request: update.requestHeaders, users: users) : stored.selecting
        var merged = StoredResponse(
            generation: stored.generation, key: stored.key, target: stored.target, status: stored.status,
            headers: headers, requestTime: update.requestTime.toMicroseconds,
            responseTime: update.responseTime.toMicroseconds, stored: now.toMicroseconds,
            expires: fixedEnd(stored.status, now, expiry, rules)?.toMicroseconds, body: stored.body,
            selecting: selecting ?? stored.selecting,
            redirects: redirects.map { self.stored($0, stored.key, now) } ?? stored.redirects)
        merged.tier = stored.tier
        return dated(merged, expiry, rules)
    }

    /// Whether a response may stay stored with its fields after a confirmation.
    package func mayStay(
        _ merged: StoredResponse, after update: HTTPExchange, within redirects: [HTTPExchange]? = nil,
        _ expiry: Expiry, _ rules: CacheRules
    ) -> Bool {
        guard let url = URL(string: merged.target) else { return false }
        let exchange = HTTPExchange(
            url: url, requestHeaders: update.requestHeaders, status: merged.status, headers: merged.headers,
            requestTime: merged.requestTime, responseTime: merged.responseTime, body: merged.body)
        return mayStore(exchange, expiry, rules)
            && (redirects ?? []).allSatisfy { mayStore($0, expiry, rules, isRedirect: true) }
    }

    private func stored(_ redirects: [HTTPExchange], _ key: SourceKey, _ now: Date) -> StoredRedirects? {
        guard !redirects.isEmpty else { return nil }
        let ends = redirects.map { redirect -> Date in
            guard let draft = draft(redirect, key, now: now, .server(otherwise: .zero), .http) else {
                return .distantPast
            }
            let freshness = Freshness(
                of: draft, for: [:], now: now, expiry: .server(otherwise: .zero), rules: .http, isShared: isShared)
            return freshness.mayBeServed ? freshness.freshUntil ?? .distantFuture : .distantPast
        }
        return StoredRedirects(
            until: (ends.min() ?? .distantPast).toMicroseconds, targets: redirects.map(\.url.targetText))
    }

    private func fixedEnd(_ status: Int, _ now: Date, _ expiry: Expiry, _ rules: CacheRules) -> Date? {
        guard rules != .http, case .after(let lifetime) = expiry,
            (200...299).contains(status) || status.isRedirect
        else { return nil }
        return now + lifetime.clamped.seconds
    }
}

extension CacheRules {
    /// Whether the caller decides the lifetime, whatever the origin says.
    func callerDecides(_ expiry: Expiry) -> Bool {
        switch expiry {
        case .after, .never: self != .http
        case .server: false
        }
    }
}
