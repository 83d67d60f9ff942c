public import FoundationEssentials
public import HTTPTypes
public import Pipeline

extension HTTPCache {
    /// Stores an exchange, if it may be stored. It replaces what answered the same request before.
    /// - Parameters:
    ///   - exchange: what was asked and what the origin answered.
    ///   - key: the source that was asked for.
    ///   - expiry: what a lifetime of the caller's, `.after`, is fixed by now.
    ///   - rules: `.http` to set `expiry` aside.
    /// - Returns: the answer as it is stored; `nil` if it may not be stored (RFC 9111 section 3) or the store failed, which
    ///   the log tells.
    public func commit(
        _ exchange: HTTPExchange, for key: SourceKey, expiry: Expiry = .standard, rules: CacheRules = .asRequested
    ) async -> StoredResponse? {
        guard case .storable = Storability(of: exchange, isShared: isShared) else { return nil }
        let response = draft(exchange, key, expiry, rules)
        var row = row(of: response, BodyChecksum(of: exchange.body), expiry, rules)
        guard row.size <= bounds.storedBytes else { return nil }
        guard exchange.body.count > Self.longestInlineBody else { return await store(row, response, exchange) }

        guard
            let file = try? await fileThreads.run({ [database, warnings] in
                try database.writeBody(exchange.body, warnings, $0)
            })
        else { return nil }
        row.bodyFile = file.name
        let stored = await store(row, response, exchange)
        if stored == nil { _ = try? await fileThreads.run { [database] _ in database.removeBody(file.name) } }
        // Until now a clean-up of another process would have waited rather than take the file for an orphan.
        withExtendedLifetime(file.lock) {}
        return stored
    }

    /// Brings a stored answer up to date with a 304 that confirmed it, or with the answer to a HEAD (RFC 9111
    /// sections 4.3.4 and 4.3.5): its fields are merged, its age and its lifetime begin anew.
    /// - Returns: the answer as it is now, whether or not its row could be changed.
    public func freshen(
        _ stored: StoredResponse, with update: HTTPFields, requestHeaders: HTTPFields = [:], requestTime: Date,
        responseTime: Date, expiry: Expiry = .standard, rules: CacheRules = .asRequested
    ) async -> StoredResponse {
        let headers = StorableFields.updating(stored.headers, with: update, isShared: isShared)
        let now = clock.now
        let selecting = SelectingFields(of: headers, request: requestHeaders, users: users)
        let response = StoredResponse(
            generation: stored.generation, key: stored.key, target: stored.target, status: stored.status,
            headers: headers, requestTime: requestTime, responseTime: responseTime, stored: now,
            expires: fixedEnd(stored.status, now, expiry, rules), body: stored.body,
            selecting: hasNewSelection(stored.headers, headers) ? selecting ?? stored.selecting : stored.selecting)
        let row = row(of: response, nil, expiry, rules)
        let control = CacheControl(headers)
        let mayStay = selecting != nil && (!control.contains("no-store") || control.contains("must-understand"))
        _ = await change { transaction in
            if mayStay { try transaction.update(row) } else { try transaction.remove(row.generation) }
        }
        return response
    }

    private func hasNewSelection(_ old: HTTPFields, _ new: HTTPFields) -> Bool {
        old[values: .vary] != new[values: .vary]
            || CacheControl(old).isUnqualified("private") != CacheControl(new).isUnqualified("private")
    }

    private func store(_ row: ResponseRow, _ response: StoredResponse, _ exchange: HTTPExchange) async
        -> StoredResponse?
    {
        let inserted = await change { [bounds] transaction in
            for old in try transaction.database.responses(of: row.key, for: exchange.requestHeaders).rows {
                try transaction.remove(old.generation)
            }
            if response.isSuccess { try transaction.forgetFailures(of: row.key) }
            let inserted = try transaction.insert(row, body: exchange.body)
            return (row: inserted, isBounded: try transaction.evict(bounds))
        }
        guard let (inserted, isBounded) = inserted else { return nil }
        if !isBounded { await evict() }
        accesses.advance(to: inserted.accessed)
        return response.numbered(inserted.generation)
    }

    /// Brings the cache within its bounds.
    func evict() async {
        // What others store meanwhile they evict for themselves.
        let entries = await change { try $0.database.totals().entries } ?? 0
        for _ in 0..<(max(0, entries) / ResponseTransaction.rowsAtOnce).clampedSum(16) {
            guard await change({ [bounds] in try $0.evict(bounds) }) == false else { return }
        }
    }

    func draft(
        _ exchange: HTTPExchange, _ key: SourceKey, _ expiry: Expiry, _ rules: CacheRules
    ) -> StoredResponse {
        let now = clock.now
        return StoredResponse(
            generation: 0, key: key, target: exchange.url.targetText, status: exchange.status,
            headers: StorableFields.of(exchange.headers, isShared: isShared), requestTime: exchange.requestTime,
            responseTime: exchange.responseTime, stored: now, expires: fixedEnd(exchange.status, now, expiry, rules),
            body: exchange.body,
            // Storability has refused `Vary: *`.
            selecting: SelectingFields(of: exchange.headers, request: exchange.requestHeaders, users: users) ?? .none)
    }

    /// - Parameter checksum: the body's, where the body is to be written.
    func row(
        of response: StoredResponse, _ checksum: BodyChecksum?, _ expiry: Expiry, _ rules: CacheRules
    ) -> ResponseRow {
        let freshness = Freshness(
            of: response, for: [:], now: response.stored, expiry: expiry, rules: rules, isShared: isShared)
        return ResponseRow(
            generation: response.generation, key: response.key, target: response.target, status: response.status,
            headers: response.headers, selecting: response.selecting, requestTime: response.requestTime,
            responseTime: response.responseTime, stored: response.stored, expires: response.expires,
            freshUntil: freshness.freshUntil, bodyLength: response.body.count,
            bodyChecksum: checksum?.value ?? 0, bodyFile: nil)
    }

    private func fixedEnd(_ status: Int, _ now: Date, _ expiry: Expiry, _ rules: CacheRules) -> Date? {
        guard rules == .asRequested, case .after(let lifetime) = expiry, (200...299).contains(status) else {
            return nil
        }
        return now + lifetime.clamped.seconds
    }

    /// Longer bodies are files: SQLite reads short ones faster than the file system does, and long ones slower.
    static let longestInlineBody = 65_536
}

extension StoredResponse {
    fileprivate func numbered(_ generation: Int64) -> StoredResponse {
        StoredResponse(
            generation: generation, key: key, target: target, status: status, headers: headers,
            requestTime: requestTime, responseTime: responseTime, stored: stored, expires: expires, body: body,
            selecting: selecting)
    }
}

extension URL {
    /// The target URI as it is stored and found: without fragment and without user info, which is a credential.
    var targetText: String {
        let text = identityText
        guard let start = text.firstRange(of: "://")?.upperBound else { return text }
        let end = text[start...].firstIndex { "/?".contains($0) } ?? text.endIndex
        guard let at = text[start..<end].lastIndex(of: "@") else { return text }
        return String(text[..<start] + text[text.index(after: at)...])
    }
}
