import FoundationEssentials
import Pipeline

/// The memory caches that hold images made from stored responses. They have to hear when such a response is removed, and
/// know which of them were used.
final class MemoriesToTell: Sendable {
    private struct Entry {
        weak var memory: MemoryCache?
        let identity: ObjectIdentifier
        /// The last of its uses that has been taken.
        var lastUse: UInt64 = 0

        init(_ memory: MemoryCache) {
            self.memory = memory
            identity = ObjectIdentifier(memory)
        }
    }

    private let entries = Lock<[Entry]>([])

    /// Adds a cache, which is not kept alive.
    func add(_ memory: MemoryCache) {
        // The references leave the lock, since one of them may have become the last.
        _ = entries.withLock { entries in
            let living = entries.compactMap(\.memory)
            entries.removeAll { $0.memory == nil }
            if !entries.contains(where: { $0.identity == ObjectIdentifier(memory) }) { entries.append(Entry(memory)) }
            return living
        }
    }

    /// Removes what was made of a source's earlier answers.
    func remove(_ source: SourceKey, askedBefore requestTime: Date, now: Date) {
        for memory in entries.withLock({ $0.compactMap(\.memory) }) {
            memory.remove(source, askedBefore: requestTime, now: now)
        }
    }

    /// Removes what was made of stored responses.
    func remove(_ generations: Set<Int64>) {
        guard !generations.isEmpty else { return }
        for memory in entries.withLock({ $0.compactMap(\.memory) }) { memory.remove(generations) }
    }

    /// Removes what was made of a target URI's responses.
    func remove(target: String) {
        for memory in entries.withLock({ $0.compactMap(\.memory) }) { memory.remove(target: target) }
    }

    /// Takes the uses of stored responses' images since the last call, each cache's oldest first.
    func takeUses() -> [MemoryUse] {
        let memories = entries.withLock { entries in
            entries.compactMap { entry in entry.memory.map { (memory: $0, lastUse: entry.lastUse) } }
        }
        return memories.flatMap { memory, lastUse in
            let (uses, last) = memory.uses(since: lastUse)
            entries.withLock { entries in
                guard let index = entries.firstIndex(where: { $0.identity == ObjectIdentifier(memory) }) else { return }
                entries[index].lastUse = max(entries[index].lastUse, last)
            }
            return uses
        }
    }
}
