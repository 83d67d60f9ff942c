import Pipeline

/// Which load writes a fetched response, until when others may join the fetch, and what was removed since loads began.
///
/// The loads that share a fetch are its members until they have used up their ``WriteRight``. The first that asks
/// writes. A load that looked at the disk before that, and asks for the response afterwards, must get the one that was
/// fetched instead of fetching it again, so a written fetch is kept until all such loads have ended. A load that began
/// before its source was removed must not write it.
///
/// ``Flights`` calls these functions under its lock. All numbers are ``SharedWork/lastNumber`` at the time.
struct WriteOrder {
    /// A fetch that has succeeded.
    struct Fetch {
        let handle: WorkHandle
        let result: WorkResult
        let history: [LoadEvent]
        /// The number of loads that share it and may still write.
        var members: Int
        var isClaimed = false
        /// Whether the writer found that the response may not be stored.
        var isRefused = false
        var writtenAt: UInt64?
        /// The tags of members that came after the writer, before it had written.
        var tags: Set<String> = []
    }

    var fetches: [UInt64: Fetch] = [:]
    /// The fetches that further loads may join.
    private(set) var joinable: [WorkKey: UInt64] = [:]
    /// When the running loads of each source began.
    private(set) var loads: [SourceKey: [UInt64]] = [:]
    /// Fetches without members, by the source whose running loads may still need them.
    private(set) var kept: [SourceKey: Set<UInt64>] = [:]
    /// When everything, and when single sources, were last removed from the caches while earlier loads ran.
    private var allRemovedAt: UInt64 = 0
    private var removedAt: [SourceKey: UInt64] = [:]
    private var firstRemoval: UInt64 = .max
    /// Forgotten fetches, which ``Flights`` releases after the lock.
    private var forgotten: [Fetch] = []

    mutating func begin(_ source: SourceKey, at began: UInt64) { loads[source, default: []].append(began) }

    /// Notes that a load has ended. A fetch may have been kept only for this one.
    mutating func end(_ source: SourceKey, began: UInt64) {
        if let place = loads[source]?.firstIndex(of: began) { loads[source]?.remove(at: place) }
        if loads[source]?.isEmpty == true { loads[source] = nil }
        for fetch in kept.removeValue(forKey: source) ?? [] { settle(fetch) }
    }

    /// Adds a fetch that has succeeded, whose waiters are its members.
    mutating func add(_ fetch: SharedWork.Work, _ result: WorkResult) {
        let handle = fetch.handle
        fetches[handle.number] = Fetch(
            handle: handle, result: result, history: fetch.history, members: fetch.waiters.count)
        if !fetch.isWithdrawn { joinable[handle.key] = handle.number }
    }

    /// Adds a member to a fetch that has succeeded. Once the response is written, only loads that began earlier join.
    mutating func join(_ key: WorkKey, began: UInt64) -> Fetch? {
        guard let number = joinable[key], let fetch = fetches[number] else { return nil }
        guard fetch.writtenAt.map({ began < $0 }) ?? true else {
            joinable[key] = nil
            settle(number)
            return nil
        }
        fetches[number]?.members += 1
        return fetch
    }

    /// Returns true for the first member that asks, which then writes the response.
    mutating func claim(_ number: UInt64) -> Bool {
        guard fetches[number]?.isClaimed == false else { return false }
        fetches[number]?.isClaimed = true
        return true
    }

    /// Notes that a member has ended, whether or not it has written.
    mutating func leave(_ number: UInt64) {
        fetches[number]?.members -= 1
        settle(number)
    }

    /// Forgets a fetch without members, unless a running load may need it: one that looked at the disk before the write.
    private mutating func settle(_ number: UInt64) {
        guard let fetch = fetches[number], fetch.members == 0 else { return }
        let (key, origin) = (fetch.handle.key, fetch.handle.origin)
        let isJoinable = joinable[key] == number
        if isJoinable, let time = fetch.writtenAt, loads[origin]?.contains(where: { $0 < time }) == true {
            kept[origin, default: []].insert(number)
            return
        }
        if isJoinable { joinable[key] = nil }
        fetches[number] = nil
        forgotten.append(fetch)
    }

    /// Lets no further load join the fetches that match.
    /// - Returns: The outermost works that they were inside of.
    @discardableResult
    mutating func withdraw(where isMeant: (WorkHandle) -> Bool) -> Set<UInt64> {
        var outermost: Set<UInt64> = []
        for (key, number) in joinable {
            guard let handle = fetches[number]?.handle, isMeant(handle) else { continue }
            joinable[key] = nil
            outermost.insert(handle.outermost)
            settle(number)
        }
        return outermost
    }

    mutating func forgetAll() {
        forgotten += fetches.values
        (fetches, joinable, kept) = ([:], [:], [:])
    }

    /// Returns the fetches that have to be released after the lock.
    mutating func takeForgotten() -> [Fetch] {
        defer { forgotten = [] }
        return forgotten
    }

    /// Notes that a source was removed, or everything if that is `nil`.
    mutating func remove(_ source: SourceKey?, at time: UInt64) {
        if let source { removedAt[source] = time }
        firstRemoval = min(firstRemoval, time)
        // More than 1,000 removals aren't remembered one by one. Running loads then write nothing at all.
        guard source == nil || removedAt.count > 1000 else { return }
        allRemovedAt = time
        (removedAt, firstRemoval) = ([:], .max)
    }

    func isRemoved(_ source: SourceKey, since began: UInt64) -> Bool {
        max(allRemovedAt, removedAt[source] ?? 0) > began
    }

    var hasRemovals: Bool { !removedAt.isEmpty }

    /// Forgets the removals that are older than all running loads. No refresh that waits is older than a removal.
    mutating func forgetRemovals(before oldest: UInt64) {
        guard firstRemoval < oldest else { return }
        removedAt = removedAt.filter { $0.value > oldest }
        firstRemoval = removedAt.values.min() ?? .max
    }
}

/// When a load began, in the order of all loads, writes and removals of its ``Flights``.
///
/// Not public, since the numbers mean something only to ``Flights``.
struct LoadStart: LoadAttachment {
    let number: UInt64
    let flights: Flights

    /// Whether a source may still be stored: false if it was removed after the load began.
    func mayStore(_ source: SourceKey) -> Bool {
        !flights.state.withLock { $0.writes.isRemoved(source, since: number) }
    }
}
