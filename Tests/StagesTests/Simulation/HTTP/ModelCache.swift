/// What RFC 9111 lets and has a cache do, as a list of stored responses: no more code than the rules need, and none of
/// the library's.
struct ModelCache: Sendable {
    let users: Scenario.Users
    private(set) var entries: [ModelEntry] = []
    /// Whether the times of responses still tell which came last: not once a clock was set back.
    var timesTellOrder = true
    /// When each path was last made invalid, by number of request and by the clock.
    private var invalidated: [String: Int] = [:]
    private var invalidatedAt: [String: Int] = [:]

    init(_ users: Scenario.Users) { self.users = users }

    var isShared: Bool { users == .shared }

    /// The fields by which a cache of several users knows them; one user's goes by RFC 9111 alone, and by Authorization.
    private func identity(_ request: ModelRequest) -> [String: String] {
        users == .one ? request.credentials.filter { $0.key == "Authorization" } : request.credentials
    }

    /// What may be chosen for a request, most recent first (section 4.1). Those behind the first certain one may not.
    func candidates(_ path: String, _ request: ModelRequest, now: Int) -> [ModelEntry?] {
        guard !request.noStore else { return [nil] }
        var candidates: [ModelEntry?] = []
        let latestFirst = matching(path, request).enumerated().sorted {
            ($0.element.made, $0.offset) > ($1.element.made, $1.offset)
        }
        for (_, entry) in latestFirst {
            candidates.append(entry)
            // One from the future is the latest or not: nobody knows.
            if entry.isCertain && !entry.isFromFuture(now) && timesTellOrder { return candidates }
        }
        return candidates.contains { $0?.isCertain == true } ? candidates : candidates + [nil]
    }

    private func matching(_ path: String, _ request: ModelRequest) -> [ModelEntry] {
        entries.filter { $0.path == path && $0.credentials == identity(request) && $0.selects(request) }
    }

    /// Takes a final response of the origin's to a request that was asked under a number (sections 3 and 4.3.3).
    /// - Parameter asked: the stored response whose validators were sent.
    /// - Returns: what is stored now; `nil` if nothing is.
    mutating func take(
        _ reply: ModelReply, to request: ModelRequest, _ path: String, number: Int, requestTime: Int, responseTime: Int,
        asked: ModelEntry?
    ) -> ModelEntry? {
        if invalidated[path, default: -1] > number { return nil }
        let overtakers = matching(path, request).filter { $0.asked > number }
        guard mayStore(reply.kind, reply.terms, request), !overtakers.contains(where: \.isCertain) else {
            // What comes for a request that says no-store may say something of the stored response, or nothing.
            if request.noStore { for entry in matching(path, request) where entry.asked < number { doubt(entry) } }
            if let asked { remove(asked, askedBefore: number) }
            return nil
        }
        let entry = ModelEntry(
            path: path, kind: reply.kind, serial: reply.serial, credentials: identity(request),
            selecting: selecting(reply.terms, request), terms: reply.terms, tag: reply.tag,
            lastModified: reply.lastModified, date: reply.date, age: reply.age, requestTime: requestTime,
            responseTime: responseTime, asked: number,
            expiresAt: reply.date.flatMap { date in reply.terms.expires.map { date + $0 } })
        let older = matching(path, request).filter { $0.asked <= number }
        let seemsOvertaken = older.contains { $0.seemsAsked(after: requestTime, before: responseTime) }
        for old in older {
            if seemsOvertaken { doubt(old) } else { entries.removeAll { $0.path == path && $0.serial == old.serial } }
        }
        entries.append(entry)
        // After the clock was set back, it may seem to have become invalid while it was under way.
        let seemsInvalid = invalidatedAt[path].map { requestTime < $0 && $0 <= responseTime } ?? false
        guard overtakers.isEmpty, !seemsInvalid, !seemsOvertaken else {
            doubt(entry)
            return nil
        }
        return entry
    }

    /// Takes a 304 that confirms a stored response (section 4.3.4).
    /// - Returns: the response as it is now; `nil` if it isn't stored any more.
    mutating func confirm(
        _ entry: ModelEntry, by reply: ModelReply, _ request: ModelRequest, number: Int, requestTime: Int,
        responseTime: Int
    ) -> ModelEntry? {
        guard invalidated[entry.path, default: -1] < number,
            let index = entries.firstIndex(where: { $0.path == entry.path && $0.serial == entry.serial })
        else { return nil }
        var updated = entries[index]
        // What was confirmed later already stays as that confirmation left it, or not: both are true of it.
        guard updated.asked < number, !updated.seemsAsked(after: requestTime, before: responseTime) else {
            entries[index].isCertain = false
            return nil
        }
        if reply.saysTerms {
            let (expiresAt, vary) = (updated.expiresAt, updated.terms.vary)
            // Each field that came again replaces all of its name, and no other.
            if reply.terms.hasControl { updated.terms = reply.terms }
            updated.terms.expires = nil
            updated.expiresAt = reply.date.flatMap { date in reply.terms.expires.map { date + $0 } } ?? expiresAt
            updated.terms.vary = reply.terms.vary.isEmpty ? vary : reply.terms.vary
            updated.selecting = selecting(updated.terms, request)
        }
        updated.tag = reply.tag ?? updated.tag
        updated.lastModified = reply.lastModified ?? updated.lastModified
        updated.date = reply.date
        updated.age = reply.age
        updated.requestTime = requestTime
        updated.responseTime = responseTime
        updated.asked = number
        updated.isCertain = true
        guard mayStay(updated, request) else {
            entries.remove(at: index)
            return nil
        }
        entries.remove(at: index)
        entries.append(updated)
        return updated
    }

    /// Section 4.4: nothing of a path is valid any more, nor what was asked for until now.
    mutating func invalidate(_ path: String, number: Int, now: Int) {
        invalidated[path] = number
        invalidatedAt[path] = now
        entries.removeAll { $0.path == path }
    }

    mutating func removeAll() { entries = [] }

    /// HTTP leaves open whether it is stored any longer.
    mutating func doubt(_ entry: ModelEntry) {
        for index in entries.indices where entries[index].path == entry.path && entries[index].serial == entry.serial {
            entries[index].isCertain = false
        }
    }

    private mutating func remove(_ entry: ModelEntry, askedBefore number: Int) {
        // A final response says that none of what was asked about is suitable: of others that match, nothing certain.
        for index in entries.indices.reversed() where entries[index].path == entry.path {
            if entries[index].serial == entry.serial {
                if entries[index].asked < number {
                    entries.remove(at: index)
                } else {
                    entries[index].isCertain = false
                }
            } else if entries[index].credentials == entry.credentials {
                entries[index].isCertain = false
            }
        }
    }

    /// Section 3.
    func mayStore(_ kind: ModelReply.Kind, _ terms: ModelReply.Terms, _ request: ModelRequest) -> Bool {
        guard !request.noStore, !terms.noStore, !terms.vary.contains("*") else { return false }
        if isShared {
            if terms.isPrivate { return false }
            let allows = terms.mustRevalidate || terms.isPublic || terms.sharedMaxAge != nil
            if request.credentials["Authorization"] != nil, !allows { return false }
        }
        switch kind {
        case .picture: return true
        case .redirect(let status, _):
            return [301, 308].contains(status) || terms.maxAge != nil || terms.expires != nil || terms.isPublic
                || (isShared ? terms.sharedMaxAge != nil : terms.isPrivate)
        default: return false
        }
    }

    /// Whether what a 304 left may stay stored.
    private func mayStay(_ entry: ModelEntry, _ request: ModelRequest) -> Bool {
        var terms = entry.terms
        if entry.expiresAt != nil { terms.expires = 0 }
        return mayStore(entry.kind, terms, request)
    }

    private func selecting(_ terms: ModelReply.Terms, _ request: ModelRequest) -> [String: String?] {
        var selecting: [String: String?] = [:]
        for name in terms.vary { selecting.updateValue(request.named[name], forKey: name) }
        // Only some fields are known to say nothing of the user.
        if users != .one, terms.isPrivate { selecting.updateValue(request.theme, forKey: "X-Theme") }
        return selecting
    }
}
