import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("What a cache does for every store")
struct AnyStoreTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("One source has up to a limit of responses for different values of Vary's fields; the least used go")
    func varying() async throws {
        let store = Wrapper(InMemoryResponseStore(byteLimit: 100_000_000))
        let cache = HTTPCache(store: store, clock: clock)
        for index in 0..<300 {
            clock.advance(by: .seconds(1))
            let varying = try exchange(
                [.cacheControl: "max-age=6000", .vary: "Accept"], request: [.accept: "\(index)"], body: [1])
            #expect(await cache.commit(varying, for: .test()) != nil)
            #expect(try await cache.lookup(.test(), headers: [.accept: "0"]).isFresh)
        }
        #expect(try await cache.statistics()?.entries == 64)
        #expect(try await cache.lookup(.test(), headers: [.accept: "299"]).isFresh)
        #expect(try await cache.lookup(.test(), headers: [.accept: "1"]).isMiss)
        let before = store.shown.value
        _ = try await cache.lookup(.test(), headers: [.accept: "299"])
        #expect(store.shown.value - before == 64)
    }

    @Test("A lookup looks at the responses of its source alone, however many others there are")
    func manySources() async throws {
        let store = Wrapper(InMemoryResponseStore(byteLimit: 100_000_000))
        let cache = HTTPCache(store: store, clock: clock)
        for index in 0..<3000 { _ = try await self.store(cache, "\(index)", length: 1) }
        let before = store.shown.value
        #expect(try await cache.lookup(.test("7")).isFresh)
        #expect(store.shown.value - before == 1)
        #expect(try await cache.statistics()?.entries == 3000)
    }

    @Test("A cache that was never used is closed without making a folder")
    func neverUsed() async throws {
        let cache = cache()
        await cache.close()
        await cache.close()
        #expect(TemporaryFolder.names(folder.path) == [])
    }

    @Test("Uses that are written unasked are written before the cache closes, not after")
    func flushedBeforeClosing() async throws {
        let store = Wrapper(InMemoryResponseStore(byteLimit: 1_000_000))
        let cache = HTTPCache(store: store, clock: clock)
        cache.touch((0..<2000).map { ProductUse(generation: $0, time: clock.now) })
        await cache.close()
        #expect(store.calls.withLock(\.self) == ["flush", "close"])
        // The next ones are written as well.
        cache.touch((0..<2000).map { ProductUse(generation: $0, time: clock.now) })
        await cache.close()
        #expect(store.calls.withLock(\.self) == ["flush", "close", "flush", "close"])
    }
}
