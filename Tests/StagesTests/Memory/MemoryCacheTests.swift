import Foundation
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 7 and 10.
@Suite("The memory cache")
struct MemoryCacheTests {
    private let start = Date(timeIntervalSince1970: 1_000_000)

    private func key(_ name: String, size: Int? = nil) throws -> VariantKey {
        let request = ImageRequest(.dataURL(name), maxPixelSize: size.map { PixelSize(square: $0) })
        return VariantKey(source: try #require(SourceKey(request)), request: request, list: BLAKE2bDigest(of: ""))
    }

    private func entry(_ width: Int = 10) -> MemoryEntry {
        MemoryEntry(product: .image(.filled(PixelSize(width: width, height: 1))), validity: .unlimited)
    }

    @Test("Inserting at the count limit evicts the least recently used, and no other")
    func evictsByCount() throws {
        let cache = MemoryCache(countLimit: 2)
        let (a, b, c) = (try key("a"), try key("b"), try key("c"))
        cache.insert(entry(), for: a, now: start)
        cache.insert(entry(), for: b, now: start)
        #expect(cache.entry(for: a, now: start) != nil)
        cache.insert(entry(), for: c, now: start)
        #expect(cache.entry(for: a, now: start) != nil)
        #expect(cache.entry(for: b, now: start) == nil)
        #expect(cache.entry(for: c, now: start) != nil)
    }

    @Test("Inserting evicts as many of the oldest as it takes to stay within the byte limit")
    func evictsByBytes() throws {
        let cache = MemoryCache(byteLimit: 100)
        for name in ["a", "b", "c"] { cache.insert(entry(10), for: try key(name), now: start) }
        #expect(cache.byteCount == 90)
        cache.insert(entry(20), for: try key("d"), now: start)
        #expect(cache.byteCount == 90)
        #expect(cache.entry(for: try key("a"), now: start) == nil)
        #expect(cache.entry(for: try key("b"), now: start) == nil)
        #expect(cache.entry(for: try key("c"), now: start) != nil)
    }

    @Test("Both limits, count and bytes, are in force")
    func bothLimits() throws {
        let cache = MemoryCache(byteLimit: 100, countLimit: 2)
        for name in ["a", "b", "c"] { cache.insert(entry(10), for: try key(name), now: start) }
        #expect(cache.count == 2)
        cache.insert(entry(30), for: try key("d"), now: start)
        #expect(cache.byteCount == 90)
        #expect(cache.count == 1)
    }

    @Test("An entry larger than the whole cache is not kept, nor what it would have replaced")
    func tooLarge() throws {
        let cache = MemoryCache(byteLimit: 100)
        let a = try key("a")
        cache.insert(entry(10), for: a, now: start)
        cache.insert(entry(40), for: a, now: start)
        #expect(cache.count == 0)
        #expect(cache.byteCount == 0)
    }

    @Test("Reading evicts nothing")
    func readingEvictsNothing() throws {
        let cache = MemoryCache(countLimit: 3)
        let keys = try ["a", "b", "c"].map { try key($0) }
        for key in keys { cache.insert(entry(), for: key, now: start) }
        for _ in 0..<100 { for key in keys.reversed() { #expect(cache.entry(for: key, now: start) != nil) } }
        #expect(cache.count == 3)
    }

    @Test(
        "An entry that went unread for the idle limit is dropped on a read and reads as a miss; a read restarts it")
    func slidingExpiry() throws {
        let cache = MemoryCache(idleLimit: .seconds(12 * 3600))
        let a = try key("a")
        cache.insert(entry(), for: a, now: start)
        #expect(cache.entry(for: a, now: start + 12 * 3600 - 1) != nil)
        #expect(cache.entry(for: a, now: start + 23 * 3600) != nil)
        #expect(cache.entry(for: a, now: start + 35 * 3600) == nil)
        #expect(cache.count == 0)
        #expect(cache.byteCount == 0)
    }

    @Test("After the clock was set back nobody knows how long an entry went unread: it is dropped on a read")
    func idleClockSetBack() throws {
        let cache = MemoryCache(idleLimit: .seconds(100))
        let a = try key("a")
        cache.insert(entry(), for: a, now: start)
        #expect(cache.entry(for: a, now: start - 1000) == nil)
        #expect(cache.count == 0)
    }

    @Test("Resetting the stale only keeps what was read lately")
    func resetStale() throws {
        let cache = MemoryCache(idleLimit: .seconds(100))
        cache.insert(entry(), for: try key("old"), now: start)
        cache.insert(entry(), for: try key("new"), now: start + 60)
        cache.reset(staleOnly: true, now: start + 100)
        #expect(cache.count == 1)
        #expect(cache.entry(for: try key("new"), now: start + 100) != nil)
        cache.reset()
        #expect(cache.count == 0)
    }

    @Test("Removing a source removes every size of it and nothing else")
    func removesSource() throws {
        let cache = MemoryCache()
        for size in [100, 200] { cache.insert(entry(), for: try key("a", size: size), now: start) }
        cache.insert(entry(), for: try key("b"), now: start)
        cache.remove(try key("a").source)
        #expect(cache.count == 1)
        #expect(cache.entry(for: try key("b"), now: start) != nil)
    }

    @Test("Any number of tasks at once leave the count and the bytes in agreement")
    func concurrent() async throws {
        let cache = MemoryCache(byteLimit: 3000, countLimit: 50)
        let keys = try (0..<200).map { try key("\($0)") }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for step in 0..<2000 {
                        let key = keys[(step * 31 + task * 7) % keys.count]
                        switch step % 5 {
                        case 0: cache.remove(key.source)
                        case 1, 2: cache.insert(entry(1 + step % 40), for: key, now: start)
                        default: _ = cache.entry(for: key, now: start)
                        }
                    }
                }
            }
        }
        #expect(cache.byteCount <= 3000)
        #expect(cache.count <= 50)
        let bytes = keys.compactMap { cache.entry(for: $0, now: start)?.product.cost }.reduce(0, +)
        #expect(bytes == cache.byteCount)
    }

    @Test("What a memory cache tells of an entry that expired long ago")
    func memory() async throws {
        let clock = ManualClock(now: start)
        let durations: [Duration] = [
            Duration(attoseconds: .max), Duration(attoseconds: .min), .seconds(Int64.max), .seconds(Int64.min), .zero,
            .seconds(1e18),
        ]
        for duration in durations {
            let memory = MemoryCache()
            let picture = try Pictures.bytes("good/webp-lossy.webp")
            let request = ImageRequest(.bytes(picture), expiry: .after(duration))
            let chain = ImagePipeline(clock: clock) {
                ResolveIdentifier()
                MemoryLookup(memory)
                ReadInline()
                Decode()
                Store(memory, nil)
            }
            for _ in 0..<2 {
                _ = try await chain.load(request)
                clock.advance(by: .seconds(10))
            }
        }
    }
}
