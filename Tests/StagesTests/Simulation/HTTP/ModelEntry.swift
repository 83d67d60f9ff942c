/// A stored response of the model, judged by the arithmetic of RFC 9111 section 4.2. Times are in milliseconds.
struct ModelEntry: Sendable {
    let path: String
    let kind: ModelReply.Kind
    let serial: String
    /// The credentials of the request that it answered.
    let credentials: [String: String]
    /// Those fields of the request that select it, with their values; `nil` for a field that wasn't given.
    var selecting: [String: String?]

    var terms: ModelReply.Terms
    var tag: ModelReply.Tag?
    var lastModified: Int?
    var date: Int?
    var age: Int?
    var requestTime: Int
    var responseTime: Int
    /// The number of the request that it answered, or that last confirmed it.
    var asked: Int
    /// False where HTTP leaves open whether it is still stored.
    var isCertain = true

    /// Whether it seems to have been asked for while another request was under way. After the clock was set back, a
    /// response that was there before may seem so too.
    func seemsAsked(after requestTime: Int, before responseTime: Int) -> Bool {
        self.requestTime > requestTime && self.requestTime <= responseTime + 2000
    }

    func selects(_ request: ModelRequest) -> Bool { selecting.allSatisfy { request.named[$0.key] == $0.value } }

    /// When it was made, by its Date or else its arrival (RFC 9110 section 6.6.1).
    var made: Int { date.map { $0 * 1000 } ?? responseTime }

    /// Section 4.2.3.
    func currentAge(_ now: Int) -> Int {
        let apparent = max(0, responseTime - (date.map { $0 * 1000 } ?? responseTime))
        let corrected = (age ?? 0) * 1000 + max(0, responseTime - requestTime)
        return max(apparent, corrected) + max(0, now - responseTime)
    }

    /// Sections 4.2.1 and 4.2.2.
    func lifetime(isShared: Bool) -> Int {
        if isShared, let seconds = terms.sharedMaxAge { return seconds * 1000 }
        if let seconds = terms.maxAge { return seconds * 1000 }
        if let seconds = expiresFromDate { return max(0, seconds) }
        let isGuessable = [.picture].contains(kind) || [301, 308].contains(status) || terms.isPublic
        guard isGuessable, let lastModified else { return 0 }
        return max(0, (date.map { $0 * 1000 } ?? responseTime) - lastModified * 1000) / 10
    }

    /// When the stored Expires is, in the origin's seconds.
    var expiresAt: Int?

    private var expiresFromDate: Int? {
        expiresAt.map { $0 * 1000 - (date.map { $0 * 1000 } ?? responseTime) }
    }

    private var status: Int { if case .redirect(let status, _) = kind { status } else { 200 } }

    /// Whether it is from the future, so that nobody knows its age. Two seconds are not worth a word.
    func isFromFuture(_ now: Int) -> Bool { now < responseTime - 2000 }

    func isFresh(_ now: Int, isShared: Bool) -> Bool {
        !isFromFuture(now) && !terms.noCache && currentAge(now) < lifetime(isShared: isShared)
    }

    /// Section 4.2.4.
    func forbidsStale(isShared: Bool) -> Bool {
        terms.mustRevalidate || terms.noCache || isShared && terms.sharedMaxAge != nil
    }

    /// The conditions that it is confirmed by (section 4.3.1), as scenarios write them.
    var conditions: String {
        (tag.map { " if-none-match \($0.field)" } ?? "")
            + (lastModified.map { " if-modified-since {\($0)}" } ?? "")
    }

    /// Section 4.3.4.
    func isConfirmed(by reply: ModelReply) -> Bool {
        if let tag = reply.tag {
            return tag.isWeak ? tag.text == self.tag?.text : tag == self.tag
        }
        guard let date = reply.lastModified, let lastModified else { return true }
        return date == lastModified
    }

    /// What may be done about a request that selects this.
    func judge(_ request: ModelRequest, now: Int, isShared: Bool) -> Verdict {
        let age = currentAge(now)
        let left = lifetime(isShared: isShared) - age
        var verdict = Verdict()
        guard !request.noCache, !request.pragma || request.wishesBesidesPragma else { return verdict }
        guard !isFromFuture(now) else { return verdict }
        let mayBeStale = !forbidsStale(isShared: isShared)
        verdict.mayStandInForUnreachable = mayBeStale
        verdict.mayStandInForError = mayBeStale && terms.staleIfError.map { -left < $0 * 1000 } ?? false
        guard !terms.noCache else { return verdict }
        if let limit = request.maxAge, limit == 0 || age > limit * 1000 { return verdict }
        if left > 0 {
            verdict.mayBeGiven = request.minFresh.map { left >= $0 * 1000 } ?? true
            return verdict
        }
        guard mayBeStale else { return verdict }
        if let limit = request.maxStale, limit == .max || -left <= limit * 1000 {
            verdict.mayBeGiven = true
        } else {
            verdict.mayBeGivenWhileAsking = terms.staleWhileRevalidate.map { -left < $0 * 1000 } ?? false
        }
        return verdict
    }

    struct Verdict: Sendable {
        var mayBeGiven = false
        var mayBeGivenWhileAsking = false
        var mayStandInForUnreachable = false
        var mayStandInForError = false
    }
}

extension ModelRequest {
    /// Section 5.4: Pragma counts only without Cache-Control.
    fileprivate var wishesBesidesPragma: Bool {
        noCache || noStore || onlyIfCached || maxAge != nil || minFresh != nil || maxStale != nil
    }
}
