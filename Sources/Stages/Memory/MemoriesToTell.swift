import FoundationEssentials
import Pipeline

/// The memory caches that hold images made of stored responses, and so have to hear when such a response is removed.
final class MemoriesToTell: Sendable {
    private struct Entry {
        weak var memory: MemoryCache?
    }

    private let entries = Lock<[Entry]>([])

    /// Tells this cache too, as long as it lives.
    func add(_ memory: MemoryCache) {
        // The references leave the lock, since one of them may have become the last.
        _ = entries.withLock { entries in
            let living = entries.compactMap(\.memory)
            entries = (living.filter { $0 !== memory } + [memory]).map { Entry(memory: $0) }
            return living
        }
    }

    /// Removes what was made of a source's earlier answers.
    func remove(_ source: SourceKey, askedBefore requestTime: Date, now: Date) {
        for memory in entries.withLock({ $0.compactMap(\.memory) }) {
            memory.remove(source, askedBefore: requestTime, now: now)
        }
    }

    /// Removes what was made of a target URI's responses.
    func remove(target: String) {
        for memory in entries.withLock({ $0.compactMap(\.memory) }) { memory.remove(target: target) }
    }
}
