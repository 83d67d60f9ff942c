package import FoundationEssentials
package import HTTPTypes
public import Pipeline

extension HTTPCache {
    /// Stores an exchange, if it may be stored. It replaces what answered the same request before, also where it may not
    /// be stored itself; a response that was asked for later stays.
    /// - Parameters:
    ///   - exchange: what was asked and what the origin answered.
    ///   - key: the source that was asked for.
    ///   - expiry: what a lifetime of the caller's, `.after`, is fixed by now.
    ///   - rules: `.http` to set `expiry` aside.
    /// - Returns: the answer as it is stored; `nil` if it may not be stored (RFC 9111 section 3), is outdated, or the
    ///   store failed, which the log tells.
    public func commit(
        _ exchange: HTTPExchange, for key: SourceKey, expiry: Expiry = .standard, rules: CacheRules = .asRequested
    ) async -> StoredResponse? {
        await keep(exchange, for: key, expiry: expiry, rules: rules).response
    }

    /// How keeping a response ended.
    package enum Kept: Sendable {
        case stored(StoredResponse)
        /// HTTP forbids it.
        case refused
        /// What is stored was asked for later, or the URL became invalid while the response was under way.
        case outdated
        /// The cache can't be used, or the response is larger than all of it.
        case unavailable

        package var response: StoredResponse? { if case .stored(let response) = self { response } else { nil } }
    }

    /// Stores an exchange as ``commit(_:for:expiry:rules:)`` does.
    /// - Parameters:
    ///   - redirects: those that belong to the entry.
    ///   - time: Since when an invalidation of its URLs counts; since the request by default.
    package func keep(
        _ exchange: HTTPExchange, for key: SourceKey, expiry: Expiry, rules: CacheRules,
        within redirects: [HTTPExchange] = [], validSince time: Date? = nil
    ) async -> Kept {
        let now = clock.now
        guard let response = policy.draft(exchange, key, within: redirects, now: now, expiry, rules) else {
            if exchange.replacesStored {
                await evict(key, for: exchange.requestHeaders, askedAt: exchange.requestTime)
            }
            return .refused
        }
        var row = row(of: response, expiry, rules)
        guard row.size <= bounds.storedBytes else { return .unavailable }
        guard exchange.body.count > Self.longestInlineBody else {
            row.bodyChecksum = BodyChecksum(of: exchange.body).value
            return await store(row, response, exchange, validSince: time)
        }

        guard
            let file = try? await fileThreads.run({ [database, warnings] in
                try database.writeBody(exchange.body, warnings, $0)
            })
        else { return .unavailable }
        (row.bodyFile, row.bodyChecksum) = (file.name, file.checksum)
        let kept = await store(row, response, exchange, validSince: time)
        if kept.response == nil { _ = try? await fileThreads.run { [database] _ in database.removeBody(file.name) } }
        // Until now a clean-up of another process would have waited rather than take the file for an orphan.
        withExtendedLifetime(file.lock) {}
        return kept
    }

    /// Brings a stored response up to date with a 304 that confirmed it, or with the response to a HEAD (RFC 9111
    /// sections 4.3.4 and 4.3.5): its fields are merged, its age and its lifetime start over.
    /// - Returns: The response as it is now; `nil` if its row is gone or was confirmed by a later request, if the update
    ///   says that it may not be stored, or the store failed.
    public func freshen(
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
        let row = row(of: response, expiry, rules)
        let mayStay = policy.mayStay(response, after: update, within: redirects, expiry, rules)
        let isUpdated = await change { transaction in
            guard mayStay else {
                try transaction.remove(row.generation)
                return false
            }
            return try transaction.update(row, now: now)
        }
        guard let isUpdated else { return .unavailable }
        return isUpdated ? .stored(response) : mayStay ? .outdated : .refused
    }

    private func store(
        _ row: ResponseRow, _ response: StoredResponse, _ exchange: HTTPExchange, validSince time: Date?
    ) async -> Kept {
        let targets = [response.target] + (response.redirects?.targets ?? [])
        let since = time ?? row.requestTime
        let inserted = await change { [bounds, invalidations, clock, users] transaction -> Inserted? in
            let now = clock.now
            // Asked here, where an invalidation is either noted already or removes this row after it.
            guard
                !targets.contains(where: { invalidations.contains($0, since: since, now: now) }),
                try !transaction.database.isInvalid(targets, askedAt: since, now: now),
                let replaced = try transaction.makeRoom(for: row, exchange.requestHeaders, of: users, now: now)
            else { return nil }
            if response.isSuccess { try transaction.forgetFailures(of: row.key) }
            let inserted = try transaction.insert(row, body: exchange.body)
            return Inserted(row: inserted, replaced: replaced, isBounded: try transaction.evict(bounds))
        }
        guard let inserted else { return .unavailable }
        guard let inserted else { return .outdated }
        // Other sizes of the picture that was there.
        productCaches.remove(inserted.replaced)
        if !inserted.isBounded { await evict() }
        accesses.advance(to: inserted.row.accessed)
        return .stored(response.numbered(inserted.row.generation))
    }

    private struct Inserted: Sendable {
        let row: (generation: Int64, accessed: Int64)
        let replaced: Set<Int64>
        let isBounded: Bool
    }

    /// Removes what is stored for a request because the origin has answered otherwise since (RFC 9111 section 4.3.3), and
    /// what was made of it from the memory caches.
    /// - Parameter requestTime: when the origin was asked; what was asked for later stays.
    package func evict(_ key: SourceKey, for headers: HTTPFields, askedAt requestTime: Date) async {
        productCaches.remove(key, askedBefore: requestTime, now: clock.now)
        let has = try? await threads.run { [database, users] _ in
            database.read { try !$0.responses(of: key, for: headers, of: users).rows.isEmpty } ?? false
        }
        guard has == true else { return }
        _ = await change { [clock, users] in
            try $0.makeRoom(for: key, headers, of: users, askedAt: requestTime, now: clock.now)
        }
    }

    /// Brings the cache within its bounds.
    package func evict() async {
        // What others store meanwhile they evict for themselves.
        let entries = await change { try $0.database.totals().entries } ?? 0
        for _ in 0..<(max(0, entries) / ResponseTransaction.rowsAtOnce).clampedSum(16) {
            guard await change({ [bounds] in try $0.evict(bounds) }) == false else { return }
        }
    }

    /// The row of a response, without the checksum and the file of its body.
    func row(of response: StoredResponse, _ expiry: Expiry, _ rules: CacheRules) -> ResponseRow {
        let freshness = Freshness(
            of: response, for: [:], now: response.stored, expiry: expiry, rules: rules, isShared: isShared)
        return ResponseRow(
            generation: response.generation, key: response.key, target: response.target, status: response.status,
            headers: response.headers, selecting: response.selecting, requestTime: response.requestTime,
            responseTime: response.responseTime, stored: response.stored, expires: response.expires,
            freshUntil: freshness.freshUntil, bodyLength: response.body.count,
            bodyChecksum: 0, bodyFile: nil, redirects: response.redirects)
    }

    /// Longer bodies are files: SQLite reads short ones faster than the file system does, and long ones slower.
    static let longestInlineBody = 65_536
}

extension StoredResponse {
    fileprivate func numbered(_ generation: Int64) -> StoredResponse {
        var numbered = self
        numbered.generation = generation
        return numbered
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
