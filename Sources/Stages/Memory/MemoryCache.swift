import PipelineHTTP
public import Essentials
public import Pipeline

/// Caches products in memory, limited by bytes and optionally by count. The least recently used entry is evicted first.
///
/// It is a resource that several pipelines can share. Reading never evicts other entries.
public final class MemoryCache: ProductCache {
    private struct Kept {
        var entry: MemoryEntry
        let cost: Int
        var usedAt: Date
        /// The number of the last use, counted among all uses of the cache.
        var use: UInt64

        /// The last use, to be noted for the stored response; `nil` if the entry was made from none.
        var lastUse: ProductUse? { entry.generation.map { ProductUse(generation: $0, time: usedAt) } }

        func isIdle(at now: Date, limit: Duration) -> Bool {
            let idle = now.timeIntervalSince(usedAt)
            // A last use in the future means that the clock was set back, so its age is unknown.
            return idle >= limit.seconds || idle < -2
        }

        /// Whether the entry was made from a later response than another entry.
        func isLater(than other: MemoryEntry, now: Date) -> Bool {
            guard let own = entry.askedAt, let others = other.askedAt else { return false }
            return own > others && own <= now + 2
        }
    }

    private struct State {
        var kept = LeastRecentlyUsed<VariantKey, Kept>()
        var bytes = 0
        /// The number of uses so far.
        var uses: UInt64 = 0
        /// The last uses of entries that were trimmed, with their numbers; the newest 1,000.
        var trimmed: [(number: UInt64, use: ProductUse)] = []
        var isWatched = false
        var knowledge: [RemovalKnowledge] = []
        /// The keys of the entries by their URLs and tags.
        private var byTarget: [String: Set<VariantKey>] = [:]

        mutating func insert(_ entry: Kept, for key: VariantKey) {
            _ = kept.insert(entry, for: key)
            bytes += entry.cost
            for target in entry.entry.targets { byTarget[target, default: []].insert(key) }
        }

        mutating func remove(_ key: VariantKey) -> Kept? {
            guard let removed = kept.remove(key) else { return nil }
            forget(removed, key)
            return removed
        }

        private mutating func forget(_ removed: Kept, _ key: VariantKey) {
            bytes -= removed.cost
            for target in removed.entry.targets {
                byTarget[target]?.remove(key)
                if byTarget[target]?.isEmpty == true { byTarget[target] = nil }
            }
        }

        /// Has removals by more targets find the entries made from responses of a URL.
        mutating func add(_ targets: [String], to target: String) {
            for key in keys(of: target) {
                kept.change(key) { $0.entry.add(targets) }
                for added in targets { byTarget[added, default: []].insert(key) }
            }
        }

        /// The keys of the entries made from responses of a URL, or with a tag.
        func keys(of target: String) -> Set<VariantKey> { byTarget[target] ?? [] }

        /// Whether an entry may have been removed without the machine's knowledge.
        func isUncertain(_ entry: MemoryEntry) -> Bool {
            guard !knowledge.isEmpty, entry.askedAt != nil else { return false }
            return knowledge.contains { $0.isUncertain(storedAt: entry.validity.storedAt) }
        }

        /// Removes the least recently used entries while a condition holds.
        mutating func removeOldest(while isTooMuch: (State) -> Bool) -> [Kept] {
            var removed: [Kept] = []
            while isTooMuch(self), let oldest = kept.oldestKey.flatMap({ remove($0) }) { removed.append(oldest) }
            return removed
        }
    }

    /// The most that all entries may take together, in bytes of pixels or file; 128 MB by default.
    package let byteLimit: Int
    /// The most entries; `nil`, the default, for no limit.
    package let countLimit: Int?
    /// How long an entry may go unread before it reads as a miss; `nil`, the default, for ever.
    package let idleLimit: Duration?

    private let pressure: MemoryPressure?
    private let clock: any LoadClock
    private let state = Lock(State())

    /// Makes an empty cache.
    /// - Parameters:
    ///   - byteLimit: The most that all entries may take together, in bytes of pixels or file; 128 MB by default. With 0
    ///     nothing is kept.
    ///   - countLimit: The most entries; any number by default.
    ///   - idleLimit: How long an entry may go unread before it reads as a miss; for ever by default.
    ///   - trimsUnderPressure: Whether the cache halves itself, every 2 seconds, while memory is short: 90 % of the limit of a
    ///     cgroup (v2) that the process is in are used, or tasks wait for memory a tenth of the time (PSI). `false` by
    ///     default; `true` in loaders that make their own cache. Where the kernel reports neither, nothing is done.
    public convenience init(
        byteLimit: Int = 128_000_000, countLimit: Int? = nil, idleLimit: Duration? = nil,
        trimsUnderPressure: Bool = false
    ) {
        self.init(
            byteLimit: byteLimit, countLimit: countLimit, idleLimit: idleLimit,
            pressure: trimsUnderPressure ? MemoryPressure() : nil)
    }

    init(
        byteLimit: Int, countLimit: Int?, idleLimit: Duration?, pressure: MemoryPressure?,
        clock: any LoadClock = SystemClock()
    ) {
        self.byteLimit = byteLimit
        self.countLimit = countLimit
        self.idleLimit = idleLimit
        self.pressure = pressure
        self.clock = clock
    }

    /// The entry under a key, which becomes the most recently used. One that went unread for too long is dropped.
    public func entry(for key: VariantKey, now: Date) -> MemoryEntry? {
        if let idleLimit {
            // The dropped entry is freed outside the lock.
            let dropped = state.withLock { state in
                state.kept.peek(key)?.isIdle(at: now, limit: idleLimit) == true ? state.remove(key) : nil
            }
            if dropped != nil { return nil }
        }
        return state.withLock { state in
            state.uses &+= 1
            let use = state.uses
            let entry = state.kept.use(key) { kept in
                kept?.usedAt = now
                kept?.use = use
                return kept?.entry
            }
            return entry.flatMap { state.isUncertain($0) ? nil : $0 }
        }
    }

    /// Lets a fleet's member say since when it has heard of every removal. Entries that it may have missed read as
    /// misses.
    package func follow(_ knowledge: RemovalKnowledge) { state.withLock { $0.knowledge.append(knowledge) } }

    /// Stores an entry, and evicts the least recently used ones that no longer fit. An entry that alone exceeds the
    /// limit isn't stored, but still removes the one that it would replace. An entry made from a later response of the
    /// origin isn't replaced.
    public func insert(_ entry: MemoryEntry, for key: VariantKey, now: Date) { _ = keep(entry, for: key, now: now) }

    /// Stores an entry as ``insert(_:for:now:)`` does.
    /// - Returns: The last uses of the evicted entries, which ``uses(since:)`` won't return.
    func keep(_ entry: MemoryEntry, for key: VariantKey, now: Date) -> [ProductUse] {
        let cost = entry.product.cost
        // Evicted entries are freed outside the lock, since freeing megabytes takes time.
        let (freed, beginsWatch) = state.withLock { state -> ([Kept], Bool) in
            guard state.kept.peek(key)?.isLater(than: entry, now: now) != true else { return ([], false) }
            var freed = [state.remove(key)].compactMap(\.self)
            guard cost <= byteLimit, countLimit != 0 else { return (freed, false) }
            freed += state.removeOldest {
                $0.bytes + cost > byteLimit || $0.kept.count >= countLimit ?? .max
            }
            state.uses &+= 1
            state.insert(Kept(entry: entry, cost: cost, usedAt: now, use: state.uses), for: key)
            defer { state.isWatched = pressure != nil }
            return (freed, pressure != nil && !state.isWatched)
        }
        if beginsWatch, let pressure { watch(pressure, clock: clock) }
        return freed.compactMap(\.lastUse)
    }

    func removeOldest(downTo limit: Int) {
        _ = state.withLock { state -> [Kept] in
            let freed = state.removeOldest { $0.bytes > limit }
            state.trimmed += freed.compactMap { kept in kept.lastUse.map { (kept.use, $0) } }
            state.trimmed.removeFirst(max(0, state.trimmed.count - 1000))
            return freed
        }
    }

    /// Whether a task is checking for memory pressure.
    var isWatched: Bool { state.withLock { $0.isWatched } }

    /// Ends the watch if the cache is empty, and returns whether it has ended. The next entry starts it again.
    func endsWatch() -> Bool {
        state.withLock { state in
            if state.kept.count == 0 { state.isWatched = false }
            return !state.isWatched
        }
    }

    /// Returns the last uses of the entries that were used after the use with a number, the oldest first, and the number
    /// of the last use of all.
    package func uses(since number: UInt64) -> (uses: [ProductUse], last: UInt64) {
        state.withLock { state in
            var recent: [ProductUse] = []
            state.kept.forEachFromNewest { kept in
                guard kept.use > number else { return false }
                if let use = kept.lastUse { recent.append(use) }
                return true
            }
            return (state.trimmed.filter { $0.number > number }.map(\.use) + recent.reversed(), state.uses)
        }
    }

    /// Removes every variant of a source.
    public func remove(_ source: SourceKey) { remove { $0 == source } }

    /// Removes every variant of the chosen sources.
    func remove(where isMeant: (SourceKey) -> Bool) {
        _ = state.withLock { state in
            state.kept.keys.filter { isMeant($0.source) }.compactMap { state.remove($0) }
        }
    }

    /// Removes the variants of a source that were made from responses to requests sent until `requestTime`.
    package func remove(_ source: SourceKey, askedBefore requestTime: Date, now: Date) {
        _ = state.withLock { state in
            state.kept.keys.filter { key in
                guard key.source == source, let asked = state.kept.peek(key)?.entry.askedAt else { return false }
                return asked <= requestTime || asked > now + 2
            }.compactMap { state.remove($0) }
        }
    }

    /// Removes the entries made from the given stored responses.
    package func remove(_ generations: Set<Int64>) {
        _ = state.withLock { state in
            state.kept.keys.filter { key in
                state.kept.peek(key)?.entry.generation.map(generations.contains) ?? false
            }.compactMap { state.remove($0) }
        }
    }

    /// Removes the entries made from responses of a URL, given without fragment and user info.
    package func remove(target: String) {
        _ = state.withLock { state in state.keys(of: target).compactMap { state.remove($0) } }
    }

    /// Has later removals by more targets remove the entries made from responses of a URL.
    package func add(_ targets: [String], to target: String) { state.withLock { $0.add(targets, to: target) } }

    /// Removes all entries, or only those that went unread for longer than the idle limit.
    public func reset(staleOnly: Bool = false, now: Date = Date()) {
        _ = state.withLock { state -> [Kept] in
            state.kept.keys.compactMap { key in
                if staleOnly {
                    guard let idleLimit, state.kept.peek(key)?.isIdle(at: now, limit: idleLimit) == true else {
                        return nil
                    }
                }
                return state.remove(key)
            }
        }
    }

    /// Removes the entries that are stale for a reader with the given expiry.
    package func removeExpired(_ expiry: Expiry, now: Date) {
        _ = state.withLock { state -> [Kept] in
            state.kept.keys.compactMap { key in
                guard let validity = state.kept.peek(key)?.entry.validity,
                    let end = validity.end(for: expiry, under: .asRequested),
                    end <= now || validity.isFromFuture(at: now)
                else { return nil }
                return state.remove(key)
            }
        }
    }

    /// The number of entries.
    public var count: Int { state.withLock { $0.kept.count } }

    /// The size of all entries together, in bytes.
    public var byteCount: Int { state.withLock { $0.bytes } }
}
