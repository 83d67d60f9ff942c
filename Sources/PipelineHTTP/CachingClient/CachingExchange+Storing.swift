import Essentials
import HTTPTypes
import Pipeline

/// Stores the origin's responses (RFC 9111 section 3).
extension CachingExchange {
    /// Stores the origin's response, or updates the stored one with it.
    mutating func keep(
        _ fetched: OriginResponse, _ key: SourceKey, instead stored: StoredResponse?
    ) async {
        guard fetched.status != 304 else { return }
        if request.method == .head {
            if let stored { await update(stored, byHead: fetched) }
            return
        }
        // RFC 9111 section 3.3: of the responses to a range request only a 200, which is whole, is stored.
        if !headers.contains(.range) || fetched.status == 200 { await store(fetched, key) }
        // RFC 9111 section 4.3.3: a full response says that the stored one is no longer suitable.
        if step.stored == nil, request.mode != .noStore, fetched.exchange(request, headers).replacesStored {
            await cache.evict(key, for: headers, askedAt: fetched.requestTime)
        }
    }

    /// Stores the origin's response, if it may be stored.
    /// - Parameter time: The time since which invalidations of the URL count; that of the request by default.
    mutating func store(_ fetched: OriginResponse, _ key: SourceKey, validSince time: Date? = nil) async {
        guard request.mode != .noStore else { return step.notes.append("not stored: the mode is no-store") }
        let exchange = fetched.exchange(request, headers)
        if case .refused(let reason) = Storability(of: exchange, isShared: cache.isShared) {
            return step.notes.append("not stored: \(reason)")
        }
        switch await cache.keep(exchange, for: key, expiry: .standard, rules: .http, validSince: time) {
        case .stored(let stored): noteStored(stored)
        case .refused: break
        case .outdated:
            step.notes.append(
                "not stored: the URL became invalid, or was asked for again, while the response was under way")
        case .unavailable:
            step.notes.append("not stored: the cache can't be used, or the response is larger than all of it")
        }
    }

    /// Updates a stored response.
    /// - Returns: the response as it is now, whether or not it could be stored.
    mutating func freshen(_ stored: StoredResponse, by fetched: OriginResponse) async -> StoredResponse {
        let update = fetched.exchange(request, headers)
        if let fresh = await cache.freshen(stored, by: update, rules: .http) {
            noteStored(fresh)
            return fresh
        }
        step.notes.append("the stored response was not changed: it is gone, newer, or may not be stored any more")
        return cache.policy.merged(stored, by: update, now: now, .standard, .http)
    }

    /// RFC 9111 section 4.3.5.
    private mutating func update(_ stored: StoredResponse, byHead fetched: OriginResponse) async {
        guard fetched.status == 200, stored.status == 200 else { return }
        let isSame = [HTTPField.Name.eTag, .lastModified, .contentLength].allSatisfy { name in
            guard let new = fetched.headers.latin1(name).first else { return true }
            return name == .contentLength ? Int(new) == stored.body.count : new == stored.headers.latin1(name).first
        }
        if isSame {
            step.notes.append("the HEAD confirms the stored response")
            _ = await freshen(stored, by: fetched)
        } else {
            step.notes.append("the HEAD says that the stored response is outdated")
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
