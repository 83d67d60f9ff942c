public import Essentials
public import Pipeline

extension HTTPCache {
    /// The responses that a clean-up removes.
    public enum Stale: Sendable, Hashable {
        /// Responses past the lifetime that they had when they were stored. The origin could still confirm them; a
        /// clean-up frees their space instead.
        case expired
        /// Responses that have not been used for this long.
        case unused(Duration)
        /// Responses that were stored, or last confirmed, this long ago.
        case stored(Duration)
    }

    /// Removes all responses of a request's source, and those that its stored redirects lead to.
    /// - Parameter key: the key of the request's responses.
    /// - Returns: the keys of the responses behind the redirects.
    package func remove(_ request: ImageRequest, _ key: SourceKey) async -> [SourceKey] {
        guard case .url(let url) = request.source, request.identifier == nil else {
            await remove(key)
            return []
        }
        let transfer = TransferRequest(url: url, headers: request.headers, partition: request.partition)
        let first = RedirectHops(transfer, credentials: users.credentials)
        var keys: [SourceKey] = []
        var waiting = [(hops: first, key: key)]
        while let (hops, key) = waiting.popLast() {
            await store.forgetFailures(of: key)
            for response in await store.remove(key, where: { _ in true }) {
                var next = hops
                // Nothing is behind a redirect that leads nowhere, or behind too many.
                guard (try? next.follow(status: response.status, response.headers)) == true,
                    let nextKey = next.key(), nextKey != key, !keys.contains(nextKey)
                else { continue }
                keys.append(nextKey)
                waiting.append((next, nextKey))
            }
        }
        return keys
    }

    /// Removes all responses of a source.
    /// - Returns: the number of removed responses.
    @discardableResult
    public func remove(_ key: SourceKey) async -> Int {
        await store.forgetFailures(of: key)
        return await store.remove(key) { _ in true }.count
    }

    /// Removes all responses of the chosen sources.
    package func remove(where isMeant: @escaping @Sendable (SourceKey) -> Bool) async {
        await store.removeAll { isMeant($0.key) }
        await store.tidy()
    }

    /// Removes every response that came from a URL, whatever its key, as after an unsafe request (RFC 9111 section
    /// 4.4). Images made of such responses leave the memory caches that a `Store` keeps them in. A response that was
    /// requested before this call and arrives after it is delivered but not stored.
    /// - Returns: the number of removed responses.
    @discardableResult
    public func remove(url: URL) async -> Int { await remove(target: url.targetText) }

    /// Removes every response with a tag, whatever its URL, as ``remove(url:)`` does. Origins give tags in the fields
    /// `Surrogate-Key` and `Cache-Tag`, callers in `ImageRequest.tags`. Responses in folders that an earlier version has
    /// written have no tags.
    /// - Returns: the number of removed responses.
    @discardableResult
    public func remove(tag: String) async -> Int { await remove(target: ResponseTags.target(tag)) }

    /// Removes every response that has a text among its `StoredResponse.targets`.
    @discardableResult
    package func remove(target: String) async -> Int { await finishRemoval(of: target, at: beginRemoval(of: target)) }

    /// Begins to remove every response that has a text among its targets: they leave memory at once, and no later lookup
    /// finds them.
    /// - Returns: The time of the removal, for ``finishRemoval(of:at:)``.
    package func beginRemoval(of target: String) -> Date {
        // As the times of requests are given to stores, which may compare them.
        let now = clock.now.toMicroseconds
        invalidations.note(target, at: now)
        removals.announce(target, at: now)
        productCaches.remove(target: target)
        return now
    }

    /// Removes the responses from the store.
    @discardableResult
    package func finishRemoval(of target: String, at time: Date) async -> Int {
        let count = await store.invalidate(target, at: time)
        removals.end(target, at: time)
        return count
    }

    /// Whether a response that was requested or stored at `requestTime` has become invalid since.
    package func isInvalid(_ target: String, askedAt requestTime: Date) -> Bool {
        invalidations.contains(target, since: requestTime, now: clock.now)
    }

    /// Removes a response, unless another has replaced it, for example because it turned out not to be an image.
    package func evict(_ stored: StoredResponse) async {
        await store.remove(stored.key) { $0.generation == stored.generation }
    }

    /// Removes everything.
    /// - Returns: the number of removed responses.
    @discardableResult
    public func removeAll() async -> Int {
        let count = await store.removeAll { _ in true }
        await store.forgetFailures(of: nil)
        await store.tidy()
        return count
    }

    /// Removes stale responses, those beyond the bounds, and leftovers of processes that died. Returns the space to the
    /// file system.
    /// - Returns: the number of removed responses.
    @discardableResult
    public func cleanUp(_ stale: Stale = .expired) async -> Int {
        let now = clock.now
        // So that recent uses count.
        await flush()
        let count = await store.removeAll { entry in
            switch stale {
            case .expired: entry.freshUntil.map { $0 <= now } ?? false
            case .unused(let duration): entry.accessed < now - duration.clamped.seconds
            case .stored(let duration): entry.stored < now - duration.clamped.seconds
            }
        }
        await store.tidy()
        return count
    }
}
