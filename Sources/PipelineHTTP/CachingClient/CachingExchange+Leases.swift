import HTTPTypes
import Pipeline

/// One fetch for all processes that share the cache.
extension CachingExchange {
    /// Asks the origin, unless another process, machine or image pipeline is asking it. If so, waits for that and returns
    /// `nil`: the cache has to be looked up again.
    mutating func lead(
        _ key: SourceKey, _ stored: Judged?, _ ticket: SharedFetches.Ticket, _ isShared: inout Bool
    ) async throws -> CachingResponse? {
        let turn = try await cache.turn(key, headers: leaseHeaders(key), patience: .seconds(30)) {
            // Whether another fetch ended before the lease was granted.
            let found = try await cache.look(
                key, headers: headers, expiry: .standard, rules: .http, priority: request.priority, isCounted: false,
                certainSince: begun)
            return found.judged.map { $0.response.isNewer(than: stored?.response) } ?? false
        }
        var ticket = ticket
        switch turn {
        case .found:
            step.notes.append("another process was asking")
            owner.fetches.end(ticket, .stored)
            isShared = false
            return nil
        case .hold(let hold):
            ticket.hold = hold
            cache = cache.held(by: hold)
        case .alone: break
        }
        do {
            let response = try await ask(key, stored, use: .miss, sharing: ticket)
            await ticket.hold?.end(isStored: step.stored != nil)
            return response
        } catch {
            // Other processes need not wait until the last reference is gone.
            await ticket.hold?.end(isStored: false)
            throw error
        }
    }

    /// The digest of the request's headers, as pipelines calculate it.
    private func leaseHeaders(_ key: SourceKey) -> SIMD2<UInt64> {
        let asLoaded = ImageRequest(.url(request.url), headers: request.headers, partition: request.partition)
        return VariantKey(source: key, request: asLoaded, list: BLAKE2bDigest(of: "")).headers
    }
}
