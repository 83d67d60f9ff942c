import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("A cache that may have missed removals", .inEachStore)
struct RemovalKnowledgeTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    private func isFresh(_ cache: HTTPCache, since begun: Date = .distantFuture) async throws -> Bool {
        let found = try await cache.look(
            .test(), headers: [:], expiry: .standard, rules: .asRequested, priority: .normal, isCounted: false,
            certainSince: begun)
        if case .stale(_, let freshness) = found {
            #expect(freshness.verdict == .uncertain)
            #expect(!freshness.mayBeServedWhileRevalidating && !freshness.mayBeServedOnError)
            #expect(!freshness.mayBeServedWhenUnreachable)
        }
        if case .fresh = found { return true }
        return false
    }

    @Test("has everything confirmed that was stored before it is certain, in no case served stale")
    func uncertain() async throws {
        let (cache, knowledge) = (cache(), RemovalKnowledge())
        let asked = clock.now
        _ = await cache.commit(
            try exchange([.cacheControl: "max-age=60, stale-while-revalidate=60, stale-if-error=60"]), for: .test())
        #expect(try await isFresh(cache))
        cache.follow(knowledge)
        #expect(try await !isFresh(cache))
        #expect(try await isFresh(cache, since: asked))
        #expect(try await !isFresh(cache, since: asked + 1))
        knowledge.set(since: asked)
        #expect(try await isFresh(cache))
        knowledge.set(since: asked + 1)
        #expect(try await !isFresh(cache))
        clock.advance(by: .seconds(1))
        _ = await cache.commit(try exchange([.cacheControl: "max-age=60"]), for: .test())
        #expect(try await isFresh(cache))
        knowledge.set(since: .distantFuture)
        #expect(try await !isFresh(cache))
        knowledge.set(since: .distantPast)
        #expect(try await isFresh(cache))
    }

    @Test("A removal that the store has yet to make is none that a lookup waits for")
    func begun() async throws {
        let cache = cache()
        let stored = try #require(await cache.commit(try exchange(), for: .test()))
        clock.advance(by: .seconds(1))
        let time = cache.beginRemoval(of: stored.target)
        #expect(try await !isFresh(cache))
        clock.advance(by: .seconds(1))
        _ = await cache.commit(try exchange(), for: .test())
        #expect(try await isFresh(cache))
        #expect(await cache.finishRemoval(of: stored.target, at: time) == 1)
        #expect(cache.removals.isPending == false)
    }

    @Test("What a machine with a clock that is ahead has stored isn't newer than a removal during the lookup")
    func ahead() async throws {
        let store = InMemoryResponseStore(byteLimit: 1_000_000)
        let ahead = ManualClock(now: clock.now + 1.5)
        let (theirs, mine) = (HTTPCache(store: store, clock: ahead), HTTPCache(store: store, clock: clock))
        let target = "http://example.com/a"
        let exchange = try HTTPExchange.test(target, [.cacheControl: "max-age=60"], at: ahead.now)
        #expect(await theirs.commit(exchange, for: .test()) != nil)
        guard case .fresh(let found, _) = try await mine.lookup(.test()) else { throw Missing() }
        #expect(found.requestTime == clock.now && found.stored == clock.now)
        clock.advance(by: .seconds(1))
        _ = mine.beginRemoval(of: target)
        #expect(mine.isInvalid(target, askedAt: found.requestTime))
    }

    private struct Missing: Error {}
}
