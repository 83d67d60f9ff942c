import Pipeline

/// A store that lists its responses in pages, and removes those of a page in one change.
package protocol PagedStore: ResponseStore {
    /// Removes those of the given responses that still match. Uses passed so far count.
    /// - Returns: The number of removed responses.
    func remove(_ generations: [Int64], where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int
}

extension PagedStore {
    /// Removes in many small steps, so that no concurrent lookup waits long.
    package func removeAll(where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int {
        // Responses stored meanwhile stay; otherwise this might never end.
        guard let latest = try? await totals()?.latestGeneration else { return 0 }
        var (count, last) = (0, Int64.min)
        for _ in 0..<HTTPCache.mostPages where last < latest {
            guard let page = try? await entries(after: last, limit: 100), let end = page.last, end.generation > last
            else { break }
            last = end.generation
            let meant = page.filter { $0.generation <= latest && isMeant($0) }.map(\.generation)
            // It may have been used or confirmed since it was read.
            if !meant.isEmpty { count += await remove(meant, where: isMeant) }
        }
        return count
    }
}
