public import FoundationEssentials
public import Pipeline

extension HTTPCache {
    /// What a clean-up removes.
    public enum Stale: Sendable, Hashable {
        /// What is past the lifetime that it had when it was stored. The origin could still confirm it; a clean-up trades
        /// that for the room.
        case expired
        /// What has not been used for so long.
        case unused(Duration)
        /// What was stored, or last confirmed, so long ago.
        case stored(Duration)
    }

    /// Removes everything of a request's source, whatever its variants, and what its stored redirects lead to.
    /// - Parameter key: what the request's responses are stored under.
    /// - Returns: what the responses behind the redirects were stored under.
    package func remove(_ request: ImageRequest, _ key: SourceKey) async -> [SourceKey] {
        guard case .url(let url) = request.source, request.identifier == nil else {
            await remove(key)
            return []
        }
        var transfer = TransferRequest(url: url, headers: request.headers)
        transfer.partition = request.partition
        let first = RedirectHops(transfer, credentials: users.credentials)
        var keys: [SourceKey] = []
        var waiting = [(hops: first, key: key)]
        while let (hops, key) = waiting.popLast() {
            await store.forgetFailures(of: key)
            for response in await store.remove(key, where: { _ in true }) {
                var next = hops
                // Too many of them, or one that leads nowhere: there is nothing behind it.
                guard (try? next.follow(status: response.status, response.headers)) == true,
                    let nextKey = next.key(), nextKey != key, !keys.contains(nextKey)
                else { continue }
                keys.append(nextKey)
                waiting.append((next, nextKey))
            }
        }
        return keys
    }

    /// Removes everything of a source, whatever its variants.
    /// - Returns: how many answers there were.
    @discardableResult
    public func remove(_ key: SourceKey) async -> Int {
        await store.forgetFailures(of: key)
        return await store.remove(key) { _ in true }.count
    }

    /// Removes everything of the chosen sources.
    package func remove(where isMeant: @escaping @Sendable (SourceKey) -> Bool) async {
        _ = await removeInParts { isMeant($0.key) }
        await store.tidy()
    }

    /// Removes every answer that came from a URL, whatever it is stored under: also what an unsafe request makes invalid
    /// (RFC 9111 section 4.4). Images made of such responses leave the memory caches that a `Store` keeps them in; what was
    /// asked for before and arrives after it is given, and kept nowhere.
    /// - Returns: how many there were.
    @discardableResult
    public func remove(url: URL) async -> Int {
        let target = url.targetText
        let now = clock.now
        invalidations.note(target, at: now)
        productCaches.remove(target: target)
        return await store.invalidate(target, at: now)
    }

    /// Whether what was asked for then, or stored then, has become invalid since.
    package func isInvalid(_ target: String, askedAt requestTime: Date) -> Bool {
        invalidations.contains(target, since: requestTime, now: clock.now)
    }

    /// Removes one answer, unless another has taken its place: what turned out to be no image, for one.
    public func evict(_ stored: StoredResponse) async {
        await store.remove(stored.key) { $0.generation == stored.generation }
    }

    /// Removes everything.
    /// - Returns: how many answers there were.
    @discardableResult
    public func removeAll() async -> Int {
        let count = await removeInParts { _ in true }
        await store.forgetFailures(of: nil)
        await store.tidy()
        return count
    }

    /// Removes what is stale, whatever lies beyond the bounds, and what a process left that died. Gives room back to the
    /// file system.
    /// - Returns: how many answers were removed.
    @discardableResult
    public func cleanUp(_ stale: Stale = .expired) async -> Int {
        let now = clock.now
        // What was used meanwhile is not unused.
        await flush()
        let count = await removeInParts { entry in
            switch stale {
            case .expired: entry.freshUntil.map { $0 <= now } ?? false
            case .unused(let duration): entry.accessed < now - duration.clamped.seconds
            case .stored(let duration): entry.stored < now - duration.clamped.seconds
            }
        }
        await store.tidy()
        return count
    }

    /// Reads through all entries while others work, and removes what it finds in many small steps, so that nobody else
    /// waits long.
    private func removeInParts(where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int {
        // What others store meanwhile stays: with it this might never end.
        guard let latest = try? await store.totals()?.latestGeneration else { return 0 }
        var (count, last) = (0, Int64.min)
        while last < latest {
            guard let entries = try? await store.entries(after: last, limit: 100), let end = entries.last else { break }
            last = end.generation
            let found = entries.filter { $0.generation <= latest && isMeant($0) }.map(\.generation)
            // It may have been used or confirmed since it was read.
            if !found.isEmpty { count += await store.remove(found, where: isMeant) }
        }
        return count
    }
}
