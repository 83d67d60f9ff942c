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
        let (users, partition) = (users, request.partition)
        let first = RedirectHops(TransferRequest(url: url, headers: request.headers), credentials: users.credentials)
        return await change { transaction in
            var keys: [SourceKey] = []
            var waiting = [(hops: first, key: key)]
            while let (hops, key) = waiting.popLast() {
                for row in try transaction.database.responses(of: key, for: nil, of: users).rows {
                    var next = hops
                    // Too many of them, or one that leads nowhere: there is nothing behind it.
                    guard (try? next.follow(status: row.status, row.headers)) == true,
                        let nextKey = next.key(partition: partition), nextKey != key, !keys.contains(nextKey)
                    else { continue }
                    keys.append(nextKey)
                    waiting.append((next, nextKey))
                }
                try transaction.forgetFailures(of: key)
                try transaction.remove(where: "source = ?1", .blob(key.digest.bytes))
            }
            return keys
        } ?? []
    }

    /// Removes everything of a source, whatever its variants.
    /// - Returns: how many answers there were.
    @discardableResult
    public func remove(_ key: SourceKey) async -> Int {
        await change { transaction in
            try transaction.forgetFailures(of: key)
            return try transaction.remove(where: "source = ?1", .blob(key.digest.bytes))
        } ?? 0
    }

    /// Removes every answer that came from a URL, whatever it is stored under: also what an unsafe request makes invalid
    /// (RFC 9111 section 4.4). Images made of such answers leave the memory caches that a `Store` keeps them in; what was
    /// asked for before and arrives after it is given, and kept nowhere.
    /// - Returns: how many there were.
    @discardableResult
    public func remove(url: URL) async -> Int {
        let target = url.targetText
        let now = clock.now
        invalidations.note(target, at: now)
        productCaches.remove(target: target)
        return await change { transaction in
            try transaction.invalidate(target, at: now)
            let same = try transaction.database.all(
                "SELECT generation, target FROM responses WHERE target_hash = ?1", .integer(targetHash(target))
            ) { $0.text(1) == target ? $0.integer(0) : nil }
            let behind = try transaction.database.all(
                "SELECT generation FROM redirects WHERE target_hash = ?1", .integer(targetHash(target))
            ) { $0.integer(0) }
            return try Set(same.compactMap(\.self) + behind).count { try transaction.remove($0) }
        } ?? 0
    }

    /// Whether what was asked for then, or stored then, has become invalid since.
    package func isInvalid(_ target: String, askedAt requestTime: Date) -> Bool {
        invalidations.contains(target, since: requestTime, now: clock.now)
    }

    /// Removes one answer, unless another has taken its place: what turned out to be no image, for one.
    public func evict(_ stored: StoredResponse) async { _ = await change { try $0.remove(stored.generation) } }

    /// Removes everything.
    /// - Returns: how many answers there were.
    @discardableResult
    public func removeAll() async -> Int {
        let count = await removeInParts(where: "?1 IS NULL", .null)
        _ = await change { try $0.database.run("DELETE FROM failures") }
        await tidy()
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
        let count =
            switch stale {
            case .expired: await removeInParts(where: "fresh_until <= ?1", .integer(now.microseconds))
            case .unused(let duration):
                await removeInParts(where: "accessed < ?1", .integer((now - duration.clamped.seconds).microseconds))
            case .stored(let duration):
                await removeInParts(where: "stored < ?1", .integer((now - duration.clamped.seconds).microseconds))
            }
        await evict()
        await tidy()
        return count
    }

    /// Reads through all rows beside everybody else, and removes what it finds in many small transactions, so that no
    /// other writer waits long.
    private func removeInParts(where condition: String, _ value: SQLiteValue) async -> Int {
        // What others store meanwhile stays: with it this might never end.
        let latest = try? await threads.run { [database] in database.read($0) { try $0.latestGeneration() } }
        guard let latest = latest.flatMap(\.self) else { return 0 }
        var (count, last) = (0, Int64.min)
        while true {
            let found = try? await threads.run { [database, last] in
                database.read($0) {
                    try $0.generations(after: last, upTo: latest, where: condition, value, limit: 100)
                }
            }
            guard let found = found.flatMap(\.self), let end = found.last else { return count }
            last = end
            let removed = await change { transaction in
                // It may have been used or confirmed since it was read.
                try found.reduce(0) {
                    try $0 + transaction.remove(where: "\(condition) AND generation = ?2", value, .integer($1))
                }
            }
            count += removed ?? 0
        }
    }

    /// Gives free pages back to the file system and removes the body files of no row.
    func tidy() async {
        // No more than there are now: others may free pages without pause.
        let free = await change { try $0.database.freePages() } ?? 0
        for _ in 0..<(free / ResponseTransaction.pagesAtOnce + 1) {
            guard await change({ try $0.giveBackPages(keeping: 0) }) == false else { break }
        }
        _ = try? await fileThreads.run(priority: .low) { [database] in database.removeOrphans($0) }
    }
}
