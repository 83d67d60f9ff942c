package import Essentials
package import HTTPTypes
public import Pipeline

extension HTTPCache {
    /// Stores an exchange, if it may be stored. It replaces the earlier response to the same request, even if it can't be
    /// stored itself, because HTTP forbids it, it is larger than the limit, or the disk is full. A response that was
    /// requested later stays.
    ///
    /// Of the responses to one source that differ in the fields that `Vary` names, 64 are stored; the least recently used
    /// are replaced first. A client can send any number of such values.
    /// - Parameters:
    ///   - exchange: the request and the origin's response.
    ///   - key: the key of the source that was requested.
    ///   - expiry: the request's expiry; `.after` fixes the lifetime now.
    ///   - rules: `.http` to ignore `expiry`.
    /// - Returns: the stored response; `nil` if it must not be stored (RFC 9111 section 3), is outdated, or the store
    ///   failed, which is logged.
    public func commit(
        _ exchange: HTTPExchange, for key: SourceKey, expiry: Expiry = .standard, rules: CacheRules = .asRequested
    ) async -> StoredResponse? {
        await keep(exchange, for: key, expiry: expiry, rules: rules).response
    }

    /// The result of storing a response.
    package enum Kept: Sendable {
        case stored(StoredResponse)
        /// HTTP forbids it.
        case refused
        /// The stored response was requested later, or the URL became invalid while the response was in flight.
        case outdated
        /// The cache can't be used, or the response is larger than its limit.
        case unavailable

        package var response: StoredResponse? { if case .stored(let response) = self { response } else { nil } }
    }

    /// Stores an exchange as ``commit(_:for:expiry:rules:)`` does.
    /// - Parameters:
    ///   - redirects: those that belong to the entry.
    ///   - known: Those that belong to it as another tier has stored them.
    ///   - time: The time since which invalidations of its URLs count; that of the request by default.
    package func keep(
        _ exchange: HTTPExchange, for key: SourceKey, expiry: Expiry, rules: CacheRules,
        within redirects: [HTTPExchange] = [], behind known: StoredRedirects? = nil, validSince time: Date? = nil
    ) async -> Kept {
        let (now, headers) = (clock.now, exchange.requestHeaders)
        guard var response = policy.draft(exchange, key, within: redirects, now: now, expiry, rules) else {
            if exchange.replacesStored { await evict(key, for: headers, askedAt: exchange.requestTime) }
            return .refused
        }
        if let known { response.redirects = known }
        handInUses()
        let targets = response.targets
        let since = (time ?? exchange.requestTime).toMicroseconds
        let settled = store.settledGeneration
        let inserted = await store.insert(response, askedAt: since) { [invalidations, clock, users] stored in
            let now = clock.now
            // Checked here: an invalidation either is noted already or will remove this response.
            guard !targets.contains(where: { invalidations.contains($0, since: since, now: now) }) else { return nil }
            let same = stored.filter { $0.selecting.match(headers, of: users) }
            guard same.allSatisfy({ $0.isReplaced(askedAt: exchange.requestTime, now: now, settled) }) else {
                return nil
            }
            let replaced = Set(same.map(\.generation))
            return replaced.union(
                stored.map(\.generation).filter { !replaced.contains($0) }.dropFirst(Self.mostVarying - 1))
        }
        switch inserted {
        case .inserted(let generation, let usedAt, let replaced):
            // Other sizes of the replaced image.
            productCaches.remove(replaced)
            accesses.advance(to: usedAt)
            var stored = response
            stored.generation = generation
            stored.tier = identity
            return .stored(stored)
        case .outdated: return .outdated
        case .unavailable:
            // The origin has responded otherwise, so the earlier response must not be served as fresh.
            if exchange.replacesStored { await evict(key, for: headers, askedAt: exchange.requestTime) }
            return .unavailable
        }
    }

    /// Gives the stored response to a request the tags of a load that has found it, or has waited for it. One that was
    /// requested before a removal by such a tag is removed instead.
    /// - Parameter requestTime: When the response was requested.
    package func add(
        _ tags: Set<String>, to key: SourceKey, headers: HTTPFields, from target: String, askedAt requestTime: Date
    ) async {
        let targets = tags.map { ResponseTags.target($0) }
        productCaches.add(targets, to: target)
        await store.add(tags, to: key, from: target) { [users] stored in
            Self.mostRecent(stored.filter { $0.selecting.match(headers, of: users) })
        }
        // Checked only now: a later removal finds the tags.
        guard targets.contains(where: { isInvalid($0, askedAt: requestTime) }) else { return }
        productCaches.remove(target: target)
        await evict(key, for: headers, askedAt: requestTime)
    }

    /// The most responses that a source has, for different values of the fields that `Vary` names.
    package static var mostVarying: Int { 64 }

    /// Brings a stored response up to date with a 304 that confirmed it, or with the response to a HEAD (RFC 9111
    /// sections 4.3.4 and 4.3.5): its fields are merged, its age and its lifetime start over.
    /// - Returns: The response as it is now; `nil` if its row is gone or was confirmed by a later request, the update
    ///   says that it must not be stored, or the store failed. A response that can't be updated is removed.
    package func freshen(
        _ stored: StoredResponse, by update: HTTPExchange, expiry: Expiry = .standard, rules: CacheRules = .asRequested
    ) async -> StoredResponse? {
        await freshen(stored, by: update, within: nil, expiry: expiry, rules: rules).response
    }

    /// Brings a stored response up to date as ``freshen(_:by:expiry:rules:)`` does.
    /// - Parameter redirects: Those that now belong to the entry; `nil` for the same as before.
    package func freshen(
        _ stored: StoredResponse, by update: HTTPExchange, within redirects: [HTTPExchange]?, expiry: Expiry,
        rules: CacheRules
    ) async -> Kept {
        let now = clock.now
        let response = policy.merged(stored, by: update, within: redirects, now: now, expiry, rules)
        guard policy.mayStay(response, after: update, within: redirects, expiry, rules) else {
            await evict(stored, askedAt: update.requestTime)
            return .refused
        }
        let settled = store.settledGeneration
        let isUpdated = await store.update(response) { $0.isReplaced(askedAt: update.requestTime, now: now, settled) }
        guard let isUpdated else {
            // Its old fields may promise more than the new ones.
            await evict(stored, askedAt: update.requestTime)
            return .unavailable
        }
        return isUpdated ? .stored(response) : .outdated
    }

    /// Removes a response about which the origin has said otherwise.
    private func evict(_ stored: StoredResponse, askedAt requestTime: Date) async {
        let removed = await store.remove(stored.key) { $0.generation == stored.generation }
        if removed.isEmpty { superseded.note("\(stored.key)", at: requestTime) }
    }

    /// Removes the stored responses to a request because the origin has since responded otherwise (RFC 9111 section
    /// 4.3.3), and images made of them from the memory caches.
    /// - Parameter requestTime: when the origin was asked; responses that were requested later stay.
    package func evict(_ key: SourceKey, for headers: HTTPFields, askedAt requestTime: Date) async {
        let now = clock.now
        productCaches.remove(key, askedBefore: requestTime.toMicroseconds, now: now)
        let isMeant = { @Sendable [users, settled = store.settledGeneration] (stored: StoredResponse) in
            stored.selecting.match(headers, of: users) && stored.isReplaced(askedAt: requestTime, now: now, settled)
        }
        // Most errors replace nothing, and then nothing is written.
        let found = try? await store.find(key, priority: .normal) { $0.first(where: isMeant) }
        if case .nothing = found { return }
        let removed = await store.remove(key, where: isMeant)
        if removed.isEmpty { superseded.note("\(key)", at: requestTime) }
    }
}

extension StoredResponse {
    /// Whether a response that was requested at `time` replaces it. One from the future was stored before the clock was
    /// set back. Those before the settled generation are older anyway.
    fileprivate func isReplaced(askedAt time: Date, now: Date, _ settled: Int64) -> Bool {
        generation < settled || requestTime.microseconds <= time.microseconds || requestTime.isFromFuture(at: now)
    }
}

extension URL {
    /// The target URI as it is stored and found: without fragment and without user info, which is a credential.
    package var targetText: String {
        let text = identityText.withoutDefaults
        guard let start = text.firstRange(of: "://")?.upperBound else { return text }
        let end = text[start...].firstIndex { "/?".contains($0) } ?? text.endIndex
        guard let at = text[start..<end].lastIndex(of: "@") else { return text }
        return String(text[..<start] + text[text.index(after: at)...])
    }
}

extension String {
    /// The text of a URL without the scheme's own port, and with a path (RFC 9110 section 4.2.3).
    fileprivate var withoutDefaults: String {
        guard let start = firstRange(of: "://")?.upperBound else { return self }
        let end = self[start...].firstIndex { "/?".contains($0) } ?? endIndex
        let port = hasPrefix("http:") ? ":80" : ":443"
        let authority = self[start..<end].hasSuffix(port) ? self[start..<end].dropLast(port.count) : self[start..<end]
        let hasPath = end < endIndex && self[end] == "/"
        return hasPath && authority.endIndex == end
            ? self : self[..<start] + authority + (hasPath ? "" : "/") + self[end...]
    }
}
