import Essentials
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("The contract of response stores")
struct StoreSpecTests {
    private let now = Date(timeIntervalSince1970: 1_772_366_400)

    @Test("The store in a folder keeps to it")
    func folder() async throws {
        let folder = try TemporaryFolder()
        let number = Counter()
        let clock = ManualClock(now: now)
        try await StoreSpec(now: now) { limit in
            HTTPCache(folder: "\(folder.path)/\(number.increment())", byteLimit: limit, clock: clock).store
        }.check()
    }

    @Test("The store in memory keeps to it")
    func memory() async throws {
        try await StoreSpec { InMemoryResponseStore(byteLimit: $0) }.check()
    }

    @Test("A store that wraps another keeps to it, unless it forgets a part that has a default")
    func wrapper() async throws {
        try await StoreSpec([.eviction, .inspection]) { Wrapper(InMemoryResponseStore(byteLimit: $0)) }.check()
        let breaches = try await StoreSpec { Wrapper(InMemoryResponseStore(byteLimit: $0)) }.breaches()
        #expect(breaches.contains { $0.contains("recordFailure") })
        #expect(breaches.contains { $0.contains("`keep`") })
    }

    @Test("A store that counts invalidated responses doesn't keep to the contract of one that can't")
    func counts() async throws {
        let breaches = try await StoreSpec(countsInvalidated: false) { InMemoryResponseStore(byteLimit: $0) }.breaches()
        #expect(breaches == ["`invalidate` of http://example.com/c returns 2 instead of 1."])
    }

    @Test("What a store does otherwise is a violation, said in a sentence", arguments: Wrapper.Fault.allCases)
    func faults(fault: Wrapper.Fault) async throws {
        let breaches = try await StoreSpec([.eviction, .inspection]) {
            Wrapper(InMemoryResponseStore(byteLimit: $0), fault)
        }.breaches()
        #expect(!breaches.isEmpty)
        #expect(breaches.allSatisfy { $0.hasSuffix(".") })
    }
}

/// A store that passes everything on to another, but for the parts with defaults; with a fault if that is wanted.
struct Wrapper: ResponseStore {
    enum Fault: CaseIterable, Sendable {
        case ignoresInvalidation, insertsOutdated, keepsReplaced, losesBody, showsBodies, forgetsTags, numbersAgain
        case ignoresUses, evictsNothing, removesOnRefusal, countsWrong, ignoresClock
    }

    let inner: InMemoryResponseStore
    let fault: Fault?
    /// The heads that were shown to choose from.
    let shown = Counter()
    /// The calls of `flush` and `close`, when they end.
    let calls = Lock<[String]>([])

    init(_ inner: InMemoryResponseStore, _ fault: Fault? = nil) {
        self.inner = fault == .evictsNothing ? InMemoryResponseStore(byteLimit: .max / 2) : inner
        self.fault = fault
    }

    var byteLimit: Int { inner.byteLimit }

    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding {
        let found = try await inner.find(key, priority: priority) { heads in
            for _ in heads { shown.increment() }
            return choose(
                heads.map { head in
                    var head = head
                    if fault == .showsBodies { head.body = [1] }
                    return head
                })
        }
        guard fault == .losesBody, case .found(var response) = found else { return found }
        response.body = []
        return .found(response)
    }

    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion {
        let time =
            switch fault {
            case .ignoresInvalidation: max(time, response.stored)
            case .ignoresClock: min(time, response.stored)
            default: time
            }
        if fault == .removesOnRefusal { _ = await inner.remove(response.key) { _ in true } }
        let inserted = await inner.insert(response, askedAt: time) { heads in
            switch fault {
            case .insertsOutdated: replace(heads) ?? []
            case .keepsReplaced: replace(heads).map { _ in [] }
            default: replace(heads)
            }
        }
        guard fault == .numbersAgain, case .inserted(_, let usedAt, let replaced) = inserted else { return inserted }
        return .inserted(1, usedAt: usedAt, replaced: replaced)
    }

    func update(_ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool) async -> Bool? {
        await inner.update(response, if: isCurrent)
    }

    func remove(
        _ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool
    ) async -> [StoredResponse] {
        await inner.remove(key, where: isMeant)
    }

    func removeAll(where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int {
        await inner.removeAll(where: isMeant) + (fault == .countsWrong ? 1 : 0)
    }

    func invalidate(_ target: String, at time: Date) async -> Int {
        fault == .forgetsTags && target.hasPrefix("tag:") ? 0 : await inner.invalidate(target, at: time)
    }

    func entries(after generation: Int64, limit: Int) async throws -> [CacheEntry] {
        try await inner.entries(after: generation, limit: limit)
    }

    func totals() async throws -> StoreTotals? { try await inner.totals() }

    func use(_ uses: [ProductUse]) { if fault != .ignoresUses { inner.use(uses) } }

    func flush() async {
        await inner.flush()
        calls.withLock { $0.append("flush") }
    }

    func tidy() async { await inner.tidy() }

    func close() async {
        await inner.close()
        calls.withLock { $0.append("close") }
    }
}
