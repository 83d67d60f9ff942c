import FoundationEssentials
import HTTPTypes
import Pipeline

/// What becomes stored of the origin's answers (RFC 9111 section 3).
extension CachingExchange {
    /// Stores the origin's answer, or brings what is stored up to date with it.
    mutating func keep(
        _ answer: OriginAnswer, _ key: SourceKey, instead stored: StoredResponse?
    ) async {
        guard answer.status != 304 else { return }
        if request.method == .head {
            if let stored { await update(stored, byHead: answer) }
            return
        }
        // RFC 9111 section 3.3: parts are not stored, nor what is about a part.
        guard !headers.contains(.range) || answer.status == 200 else { return }
        if cache.isInvalid(request.url.targetText, askedAt: answer.requestTime) {
            return step.notes.append("not stored: the URL became invalid while the answer was under way")
        }
        await store(answer, key)
        // RFC 9111 section 4.3.3: the full answer says that the stored one is not suitable any more.
        if step.stored == nil, let stored, (200...299).contains(answer.status) { await cache.evict(stored) }
    }

    mutating func store(_ answer: OriginAnswer, _ key: SourceKey) async {
        guard request.mode != .noStore else { return step.notes.append("not stored: the mode is no-store") }
        let exchange = answer.exchange(request, headers)
        if case .refused(let reason) = Storability(of: exchange, isShared: cache.isShared) {
            step.notes.append("not stored: \(reason)")
        } else if let stored = await cache.commit(exchange, for: key, rules: .http) {
            noteStored(stored)
        } else {
            step.notes.append("not stored: the cache can't be used, or the answer is larger than all of it")
        }
    }

    /// RFC 9111 section 4.3.5.
    private mutating func update(_ stored: StoredResponse, byHead answer: OriginAnswer) async {
        guard answer.status == 200, stored.status == 200 else { return }
        let isSame = [HTTPField.Name.eTag, .lastModified, .contentLength].allSatisfy { name in
            guard let new = answer.headers.latin1(name).first else { return true }
            return name == .contentLength ? Int(new) == stored.body.count : new == stored.headers.latin1(name).first
        }
        if isSame {
            step.notes.append("the HEAD confirms what is stored")
            noteStored(
                await cache.freshen(
                    stored, with: answer.headers, requestHeaders: headers, requestTime: answer.requestTime,
                    responseTime: answer.responseTime, rules: .http))
        } else {
            step.notes.append("the HEAD says that what is stored is no longer so")
            await cache.evict(stored)
        }
    }

    mutating func noteStored(_ stored: StoredResponse) {
        step.stored = (
            stored,
            Freshness(of: stored, for: [:], now: now, expiry: .standard, rules: .http, isShared: cache.isShared)
        )
    }
}
