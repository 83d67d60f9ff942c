import Foundation
import Stages
import Synchronization

/// Keeps responses in a dictionary, up to a limit of bytes.
actor DictionaryStore: ResponseStore {
    private struct Entry {
        var response: StoredResponse
        var used: Date
        var summary: CacheEntry { CacheEntry(response, bodyLength: response.body.count, accessed: used) }
    }

    let byteLimit: Int
    private var entries: [Int64: Entry] = [:]
    private var lastGeneration = Int64.random(in: 1..<1 << 62)
    private var lastUse = Date.distantPast
    private var invalidated: [String: Date] = [:]
    private let uses = Mutex<[ProductUse]>([])

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding {
        let heads = heads(of: key)
        guard let chosen = choose(heads), let entry = entries[chosen.generation] else {
            return .nothing(among: heads.count)
        }
        return .found(entry.response)
    }

    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion {
        await flush()
        let isFromFuture = time > response.stored + 2
        let isInvalid = response.targets.contains { invalidated[$0].map { isFromFuture || time < $0 } ?? false }
        guard !isInvalid, let replaced = replace(heads(of: response.key)) else { return .outdated }
        guard response.body.count <= byteLimit else { return .unavailable }
        for generation in replaced { entries[generation] = nil }
        lastGeneration += 1
        lastUse = max(response.stored, lastUse + 0.001)
        entries[lastGeneration] = Entry(response: response, used: lastUse)
        entries[lastGeneration]?.response.generation = lastGeneration
        while bytes > byteLimit, let oldest = entries.min(by: { $0.value.used < $1.value.used }) {
            entries[oldest.key] = nil
        }
        return .inserted(lastGeneration, usedAt: lastUse, replaced: replaced)
    }

    func update(_ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool) async -> Bool? {
        guard let stored = entries[response.generation]?.response, isCurrent(stored.head) else { return false }
        entries[response.generation]?.response = response
        entries[response.generation]?.response.body = stored.body
        return true
    }

    func remove(
        _ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool
    ) async -> [StoredResponse] {
        let meant = heads(of: key).filter(isMeant)
        for head in meant { entries[head.generation] = nil }
        return meant
    }

    func removeAll(where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int {
        await flush()
        let meant = entries.filter { isMeant($0.value.summary) }.keys
        for generation in meant { entries[generation] = nil }
        return meant.count
    }

    func invalidate(_ target: String, at time: Date) async -> Int {
        invalidated = invalidated.filter { $0.value > time - 600 }
        invalidated[target] = time
        let meant = entries.filter { $0.value.response.targets.contains(target) }.keys
        for generation in meant { entries[generation] = nil }
        return meant.count
    }

    nonisolated func use(_ uses: [ProductUse]) { self.uses.withLock { $0 += uses } }

    func flush() async {
        for use in uses.withLock({
            let uses = $0; $0 = []; return uses
        }) {
            entries[use.generation]?.used = use.time
            lastUse = max(lastUse, use.time)
        }
    }

    func close() async {}

    private var bytes: Int { entries.values.reduce(0) { $0 + $1.response.body.count } }

    /// The responses under a key without their bodies, the most recently used first.
    private func heads(of key: SourceKey) -> [StoredResponse] {
        entries.values.filter { $0.response.key == key }.sorted { $0.used > $1.used }.map(\.response.head)
    }
}
