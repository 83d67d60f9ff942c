import Essentials
import HTTPTypes
import Pipeline

/// A store in this process's memory. It makes no folder and no file, and its responses are gone with the process.
actor InMemoryResponseStore: ResponseStore {
    private struct Entry {
        var response: StoredResponse
        var accessed: Date
        /// In the order in which they were stored.
        var variants: [(key: VariantKey, image: EncodedImage)] = []

        /// The bytes of the body, the results and the fields, and an estimate for the rest.
        var size: Int {
            let fields = response.headers.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
            return variants.reduce(response.body.count + fields + 512) { $0 + $1.image.bytes.count }
        }

        var head: StoredResponse { response.head }

        var summary: CacheEntry { CacheEntry(response, bodyLength: response.body.count, accessed: accessed) }
    }

    nonisolated let byteLimit: Int

    private var entries: [Int64: Entry] = [:]
    private var generations: [SourceKey: Set<Int64>] = [:]
    /// The generations by the URLs and tags of their responses.
    private var byTarget: [String: Set<Int64>] = [:]
    /// All generations in their order, with some that are gone; the last one isn't.
    private var order: [Int64] = []
    private var bytes = 0
    /// Random at first, so that no two stores give out the same: a program may replace one and keep images of the other.
    private var lastGeneration = Int64.random(in: 1 << 40..<1 << 62)
    private var lastUse = Date.distantPast
    private var failures: [SourceKey: FailedAttempts] = [:]
    private let invalidations = RecentInvalidations()
    /// Uses that are not yet noted.
    private nonisolated let uses = Lock<[ProductUse]>([])

    init(byteLimit: Int) { self.byteLimit = max(0, byteLimit) }

    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding {
        try Task.checkCancellation()
        let stored = heads(of: key)
        guard let chosen = choose(stored), let entry = entries[chosen.generation] else {
            return .nothing(among: stored.count)
        }
        return .found(entry.response)
    }

    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion {
        noteUses()
        guard !response.targets.contains(where: { invalidations.contains($0, since: time, now: response.stored) }),
            let replaced = replace(heads(of: response.key))
        else { return .outdated }
        // Later than every other, even if the clock was set back: a new response isn't the first to be evicted.
        lastUse = max(response.stored, lastUse + 1e-6)
        var entry = Entry(response: response, accessed: lastUse)
        guard entry.size <= byteLimit else { return .unavailable }
        for generation in replaced { remove(generation) }
        if response.isSuccess { failures[response.key] = nil }
        lastGeneration += 1
        entry.response.generation = lastGeneration
        add(entry)
        evict()
        return .inserted(lastGeneration, usedAt: entry.accessed, replaced: replaced)
    }

    func update(
        _ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool
    ) async -> Bool? {
        guard var entry = entries[response.generation], isCurrent(entry.head) else { return false }
        let body = entry.response.body
        note(entry.response, isStored: false)
        entry.response = response
        entry.response.body = body
        entry.accessed.raise(to: response.stored)
        note(response, isStored: true)
        set(entry)
        return true
    }

    func remove(
        _ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool
    ) async -> [StoredResponse] {
        let meant = heads(of: key).filter(isMeant)
        for head in meant { remove(head.generation) }
        return meant
    }

    func removeAll(where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int {
        noteUses()
        return order.count {
            guard let entry = entries[$0], isMeant(entry.summary) else { return false }
            return remove($0)
        }
    }

    func invalidate(_ target: String, at time: Date) async -> Int {
        invalidations.note(target, at: time)
        return byTarget[target, default: []].count { remove($0) }
    }

    func entries(after generation: Int64, limit: Int) async throws -> [CacheEntry] {
        let rest = order[order.partition(after: generation)...]
        return Array(rest.lazy.compactMap { self.entries[$0]?.summary }.prefix(max(0, limit)))
    }

    func totals() async throws -> StoreTotals? {
        StoreTotals(entries: entries.count, bytes: bytes, latestGeneration: order.last ?? 0)
    }

    nonisolated func use(_ uses: [ProductUse]) { self.uses.withLock { $0 += uses } }

    func flush() async { noteUses() }

    func close() async {}

    func variant(_ key: VariantKey, of generation: Int64, priority: LoadPriority) async throws -> EncodedImage? {
        entries[generation]?.variants.first { $0.key == key }?.image
    }

    func largestVariant(
        like key: VariantKey, of generation: Int64, priority: LoadPriority
    ) async throws -> EncodedImage? {
        entries[generation]?.variants.lazy.filter { $0.key.isAlike(key) }.map(\.image)
            .max { ($0.size?.width ?? 0) < ($1.size?.width ?? 0) }
    }

    func keep(_ image: EncodedImage, as key: VariantKey, of generation: Int64) async {
        guard var entry = entries[generation], image.bytes.count <= byteLimit / 4 else { return }
        entry.variants.removeAll { $0.key == key }
        entry.variants = entry.variants.suffix(Self.mostVariants - 1) + [(key, image)]
        set(entry)
        evict()
    }

    func failures(of key: SourceKey) async throws -> FailedAttempts? { failures[key] }

    func recordFailure(status: Int, of key: SourceKey, at time: Date) async -> FailedAttempts? {
        let attempts = FailedAttempts(
            status: status, attempts: min(failures[key]?.attempts ?? 0, 1 << 31) + 1, latest: time)
        failures[key] = attempts
        if failures.count > Self.mostFailures {
            let latest = failures.sorted { $0.value.latest > $1.value.latest }.prefix(Self.mostFailures / 2)
            failures = Dictionary(uniqueKeysWithValues: latest.map { ($0.key, $0.value) })
        }
        return attempts
    }

    func forgetFailures(of key: SourceKey?) async {
        if let key { failures[key] = nil } else { failures = [:] }
    }

    /// The heads of all responses under a key, the most recently used first.
    private func heads(of key: SourceKey) -> [StoredResponse] {
        generations[key, default: []].compactMap { entries[$0] }
            .sorted { ($0.accessed, $0.response.generation) > ($1.accessed, $1.response.generation) }.map(\.head)
    }

    private func add(_ entry: Entry) {
        // So that those that are gone never are most of them.
        if order.count > 2 * entries.count + 64 { order.removeAll { entries[$0] == nil } }
        order.append(entry.response.generation)
        generations[entry.response.key, default: []].insert(entry.response.generation)
        note(entry.response, isStored: true)
        set(entry)
    }

    /// Notes the URLs and tags of a response that is stored from now on, or no longer.
    private func note(_ response: StoredResponse, isStored: Bool) {
        for target in response.targets {
            if isStored {
                byTarget[target, default: []].insert(response.generation)
            } else {
                byTarget[target]?.remove(response.generation)
                if byTarget[target]?.isEmpty ?? false { byTarget[target] = nil }
            }
        }
    }

    private func set(_ entry: Entry) {
        let generation = entry.response.generation
        bytes += entry.size - (entries.updateValue(entry, forKey: generation)?.size ?? 0)
    }

    @discardableResult
    private func remove(_ generation: Int64) -> Bool {
        guard let entry = entries.removeValue(forKey: generation) else { return false }
        bytes -= entry.size
        note(entry.response, isStored: false)
        generations[entry.response.key]?.remove(generation)
        if generations[entry.response.key]?.isEmpty ?? false { generations[entry.response.key] = nil }
        while let last = order.last, entries[last] == nil { order.removeLast() }
        return true
    }

    private func noteUses() {
        let uses = uses.withLock { uses in
            defer { uses = [] }
            return uses
        }
        for use in uses { entries[use.generation]?.accessed.raise(to: use.time) }
        lastUse = max(lastUse, uses.lazy.map(\.time).max() ?? lastUse)
    }

    /// Removes the least recently used responses, down to a sixteenth below the limit: finding many costs hardly more
    /// than finding one.
    private func evict() {
        guard bytes > byteLimit else { return }
        noteUses()
        let oldest = entries.values.sorted {
            ($0.accessed, $0.response.generation) < ($1.accessed, $1.response.generation)
        }
        for entry in oldest {
            guard bytes > byteLimit - byteLimit / 16 else { return }
            remove(entry.response.generation)
        }
    }

    private static let mostFailures = 10_000
}

extension [Int64] {
    /// The place of the first number that is greater, in ascending order.
    fileprivate func partition(after number: Int64) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] > number { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Date {
    fileprivate mutating func raise(to time: Date) { self = max(self, time) }
}
