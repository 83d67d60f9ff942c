import HTTPTypes
import Pipeline

/// One fetch for all processes that share the cache.
extension CachingExchange {
    /// Asks the origin, unless another process or an image pipeline is asking it. If so, waits for that and returns
    /// `nil`: the cache has to be looked up again.
    mutating func lead(
        _ key: SourceKey, _ stored: Judged?, _ ticket: SharedFetches.Ticket, _ isShared: inout Bool
    ) async throws -> CachingResponse? {
        var ticket = ticket
        let outcome = try await cache.lease(key, headers: leaseHeaders(key), patience: .seconds(30))
        if case .granted(let lease) = outcome { ticket.lease = lease }
        do {
            guard try await !hasNew(outcome, key, stored) else {
                step.notes.append("another process was asking")
                await ticket.lease?.giveBack()
                owner.fetches.end(ticket, .stored)
                isShared = false
                return nil
            }
            let response = try await ask(key, stored, use: .miss, sharing: ticket)
            await ticket.lease?.giveBack()
            return response
        } catch {
            // Other processes need not wait until the last reference is gone.
            await ticket.lease?.giveBack()
            throw error
        }
    }

    /// Whether another fetch ended before the lease was granted.
    private func hasNew(_ outcome: HTTPCache.LeaseOutcome, _ key: SourceKey, _ stored: Judged?) async throws -> Bool {
        switch outcome {
        case .over: return true
        case .unavailable: return false
        case .granted:
            let found = try await cache.look(
                key, headers: headers, expiry: .standard, rules: .http, priority: request.priority, isCounted: false)
            switch found {
            case .fresh(let response, _), .stale(let response, _): return response.isNewer(than: stored?.response)
            case .miss: return false
            }
        }
    }

    /// The digest of the request's headers, as pipelines calculate it.
    private func leaseHeaders(_ key: SourceKey) -> SIMD2<UInt64> {
        let asLoaded = ImageRequest(.url(request.url), headers: request.headers, partition: request.partition)
        return VariantKey(source: key, request: asLoaded, list: Digest(of: "")).headers
    }
}
