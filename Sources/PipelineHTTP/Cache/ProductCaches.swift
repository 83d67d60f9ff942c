public import Essentials
package import Pipeline

/// A cache of products that were made from stored responses, such as a memory cache. An ``HTTPCache`` tells it which
/// responses are no longer valid, and asks it which responses' products were used.
package protocol ProductCache: AnyObject, Sendable {
    /// Removes products of the responses to a source's earlier requests.
    /// - Parameters:
    ///   - source: The source.
    ///   - requestTime: When the request was sent whose response replaces those responses.
    ///   - now: The current time; products of requests from the future are removed too.
    func remove(_ source: SourceKey, askedBefore requestTime: Date, now: Date)

    /// Removes products of stored responses.
    /// - Parameter generations: The responses' numbers in the cache.
    func remove(_ generations: Set<Int64>)

    /// Removes products of responses from a URL, which has neither fragment nor user info.
    func remove(target: String)

    /// Has later removals by more targets remove the products of responses from a URL.
    func add(_ targets: [String], to target: String)

    /// Returns the last uses of the products that were used after the use with a number, the oldest first, and the number
    /// of the last use of all. Uses are counted from 1.
    func uses(since number: UInt64) -> (uses: [ProductUse], last: UInt64)
}

/// When a product was last used, and the generation of the stored response that it was made from.
public struct ProductUse: Sendable, Hashable {
    /// The generation of the stored response.
    public let generation: Int64
    /// The time of the last use.
    public let time: Date

    /// Describes a use.
    package init(generation: Int64, time: Date) {
        self.generation = generation
        self.time = time
    }
}

/// The caches that hold products made from stored responses.
final class ProductCaches: Sendable {
    private struct Entry {
        weak var cache: (any ProductCache)?
        let identity: ObjectIdentifier
        /// The last of its uses that has been taken.
        var lastUse: UInt64 = 0

        init(_ cache: any ProductCache) {
            self.cache = cache
            identity = ObjectIdentifier(cache)
        }
    }

    private let entries = Lock<[Entry]>([])

    /// Adds a cache, which is not kept alive.
    func add(_ cache: any ProductCache) {
        // The references are released outside the lock, since one of them may have become the last.
        _ = entries.withLock { entries in
            let living = entries.compactMap(\.cache)
            entries.removeAll { $0.cache == nil }
            if !entries.contains(where: { $0.identity == ObjectIdentifier(cache) }) { entries.append(Entry(cache)) }
            return living
        }
    }

    /// Removes products of a source's earlier responses.
    func remove(_ source: SourceKey, askedBefore requestTime: Date, now: Date) {
        for cache in entries.withLock({ $0.compactMap(\.cache) }) {
            cache.remove(source, askedBefore: requestTime, now: now)
        }
    }

    /// Removes products of stored responses.
    func remove(_ generations: Set<Int64>) {
        guard !generations.isEmpty else { return }
        for cache in entries.withLock({ $0.compactMap(\.cache) }) { cache.remove(generations) }
    }

    /// Removes products of a target URI's responses.
    func remove(target: String) {
        for cache in entries.withLock({ $0.compactMap(\.cache) }) { cache.remove(target: target) }
    }

    /// Has later removals by more targets remove the products of a target URI's responses.
    func add(_ targets: [String], to target: String) {
        for cache in entries.withLock({ $0.compactMap(\.cache) }) { cache.add(targets, to: target) }
    }

    /// Takes the uses of stored responses' images since the last call, each cache's oldest first.
    func takeUses() -> [ProductUse] {
        let caches = entries.withLock { entries in
            entries.compactMap { entry in entry.cache.map { (cache: $0, lastUse: entry.lastUse) } }
        }
        return caches.flatMap { cache, lastUse in
            let (uses, last) = cache.uses(since: lastUse)
            entries.withLock { entries in
                guard let index = entries.firstIndex(where: { $0.identity == ObjectIdentifier(cache) }) else { return }
                entries[index].lastUse = max(entries[index].lastUse, last)
            }
            return uses
        }
    }
}
