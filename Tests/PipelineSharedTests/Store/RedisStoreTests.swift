import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineHTTP
@testable import PipelineShared

@Suite("Responses in Redis", .withRedis, .timeLimit(.minutes(5)))
struct RedisStoreTests {
    let site: SharedSite

    init() throws { site = SharedSite(try RedisServer()) }

    @Test("are found by another machine, with their fields, times and body")
    func finding() async throws {
        let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let exchange = try site.exchange(
            "http://example.com/a?x=1", [.cacheControl: "max-age=60", .eTag: "\"1\"", .vary: "Accept"],
            request: [.accept: "image/webp"], body: body)
        let stored = try #require(await site.cache().commit(exchange, for: .test("a")))
        site.clock.advance(by: .seconds(10))
        let other = site.cache()
        guard
            case .fresh(let found, let freshness) = try await other.lookup(.test("a"), headers: [.accept: "image/webp"])
        else { throw Unexpected() }
        #expect(found.body == body)
        #expect(found.headers == stored.headers)
        #expect(found.target == "http://example.com/a?x=1")
        #expect(found.generation == stored.generation)
        #expect(freshness.age == .seconds(10))
        site.clock.advance(by: .seconds(60))
        guard case .stale(let stale, _) = try await other.lookup(.test("a"), headers: [.accept: "image/webp"]) else {
            throw Unexpected()
        }
        #expect(stale.validator == "1")
        guard case .miss(.otherValues(1)) = try await other.lookup(.test("a"), headers: [.accept: "image/png"]) else {
            throw Unexpected()
        }
        guard case .miss(.nothingStored) = try await other.lookup(.test("b")) else { throw Unexpected() }
    }

    @Test("are those of a shared cache: nothing private, and s-maxage counts")
    func sharedRules() async throws {
        let cache = site.cache()
        #expect(
            await cache.commit(try site.exchange("http://a/", [.cacheControl: "private, max-age=60"]), for: .test("a"))
                == nil)
        let mine = try site.exchange("http://a/", [.cacheControl: "max-age=60"], request: [.authorization: "Bearer x"])
        #expect(await cache.commit(mine, for: .test("a")) == nil)
        _ = await cache.commit(
            try site.exchange("http://a/", [.cacheControl: "max-age=0, s-maxage=60"]), for: .test("a"))
        guard case .fresh = try await site.cache().lookup(.test("a")) else { throw Unexpected() }
    }

    @Test("replace each other only where the same requests select them")
    func replacing() async throws {
        let cache = site.cache()
        let vary: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept"]
        for (accept, text) in [("image/webp", "one"), ("image/png", "two"), ("image/webp", "three")] {
            site.clock.advance(by: .seconds(1))
            _ = await cache.commit(
                try site.exchange("http://a/", vary, request: [.accept: accept], body: Array(text.utf8)),
                for: .test("a"))
        }
        for (accept, text) in [("image/png", "two"), ("image/webp", "three")] {
            guard case .fresh(let found, _) = try await site.cache().lookup(.test("a"), headers: [.accept: accept])
            else {
                throw Unexpected()
            }
            #expect(String(decoding: found.body, as: UTF8.self) == text)
        }
        #expect(try await site.store().entries(after: 0, limit: 10).count == 2)
    }

    @Test("aren't replaced by a response that was requested earlier")
    func order() async throws {
        let cache = site.cache()
        let early = try site.exchange(body: Array("early".utf8))
        site.clock.advance(by: .seconds(1))
        #expect(await cache.commit(try site.exchange(body: Array("late".utf8)), for: .test("a")) != nil)
        #expect(await site.cache().commit(early, for: .test("a")) == nil)
        guard case .fresh(let found, _) = try await cache.lookup(.test("a")) else { throw Unexpected() }
        #expect(found.body == Array("late".utf8))
    }

    @Test("are freshened by a 304, and only where they are still current")
    func freshening() async throws {
        let cache = site.cache()
        let stored = try #require(
            await cache.commit(
                try site.exchange("http://a/", [.cacheControl: "max-age=60", .eTag: "\"1\""]), for: .test("a")))
        site.clock.advance(by: .seconds(100))
        let update = try site.exchange("http://a/", [.cacheControl: "max-age=1000"], status: 304)
        #expect(await site.cache().freshen(stored, by: update) != nil)
        guard case .fresh(let found, let freshness) = try await cache.lookup(.test("a")) else { throw Unexpected() }
        #expect(found.body == Array("body".utf8))
        #expect(found.generation == stored.generation)
        #expect(freshness.lifetime == .seconds(1000))
        await cache.remove(.test("a"))
        #expect(await cache.freshen(stored, by: update) == nil)
    }

    @Test("become invalid by URL and by tag, however many there are, and can be stored again")
    func invalidation() async throws {
        let cache = site.cache()
        let tagged: HTTPFields = [
            .cacheControl: "max-age=60", try #require(HTTPField.Name("Surrogate-Key")): "shoes sale",
        ]
        for name in ["a", "b"] {
            _ = await cache.commit(try site.exchange("http://example.com/\(name)", tagged), for: .test(name))
        }
        _ = await cache.commit(try site.exchange("http://example.com/c"), for: .test("c"))
        func found() async throws -> String {
            var names = ""
            for name in ["a", "b", "c"] {
                if case .fresh = try await site.cache().lookup(.test(name)) { names += name }
            }
            return names
        }
        #expect(try await found() == "abc")
        #expect(await site.cache().remove(url: try #require(URL(string: "http://example.com/c"))) == 1)
        #expect(try await found() == "ab")
        #expect(await cache.remove(tag: "sale") == 1)
        #expect(try await found() == "")
        // In the same second as the invalidation, by the clocks of two machines.
        site.clock.set(now: Date() + 1)
        let again = site.cache()
        #expect(await again.commit(try site.exchange("http://example.com/a", tagged), for: .test("a")) != nil)
        #expect(try await found() == "a")
    }

    @Test("that were requested before an invalidation aren't stored after it")
    func lateArrival() async throws {
        let exchange = try site.exchange("http://example.com/a")
        await site.cache().remove(url: exchange.url)
        #expect(await site.cache().commit(exchange, for: .test("a")) == nil)
    }

    @Test("are a miss once Redis has evicted what tells whether they are valid")
    func evictedEpoch() async throws {
        let (cache, store) = (site.cache(), site.store())
        _ = await cache.commit(try site.exchange("http://example.com/a"), for: .test("a"))
        _ = try await store.scripts.connection.send("DEL", store.keys.epochs + store.keys.epoch("http://example.com/a"))
        guard case .miss = try await cache.lookup(.test("a")) else { throw Unexpected() }
    }

    @Test("of another version are a miss, and stay")
    func versions() async throws {
        let (cache, store) = (site.cache(), site.store())
        let stored = try #require(await cache.commit(try site.exchange(), for: .test("a")))
        var head = CheckedHead.bytes(stored, bodySum: 0)
        head[0] += 1
        let fields = [
            Array("HSET".utf8), Array(store.keys.entry(.test("a")).utf8), Array("h\(stored.generation)".utf8),
        ]
        _ = try await store.scripts.connection.send(fields + [head])
        guard case .miss(.nothingStored) = try await cache.lookup(.test("a")) else { throw Unexpected() }
        site.clock.advance(by: .seconds(1))
        _ = await cache.commit(try site.exchange(body: [1]), for: .test("a"))
        #expect(await cache.remove(.test("a")) == 1)
        let left = try await store.scripts.connection.send(
            "HGET", store.keys.entry(.test("a")), "h\(stored.generation)")
        #expect(left.bytes == head)
        // Another namespace never meets them.
        guard case .miss(.nothingStored) = try await site.cache(site.store(namespace: "other")).lookup(.test("a"))
        else {
            throw Unexpected()
        }
    }

    /// Changes what a field of an entry holds.
    private func damage(_ field: String, of key: SourceKey, _ change: (inout [UInt8]) -> Void) async throws {
        let store = site.store()
        let entry = store.keys.entry(key)
        var value = try #require(try await store.scripts.connection.send("HGET", entry, field).bytes)
        change(&value)
        _ = try await store.scripts.connection.send([Array("HSET".utf8), Array(entry.utf8), Array(field.utf8), value])
    }

    @Test(
        "that are damaged, cut off or another's are a miss that is removed",
        arguments: ["flip", "cut", "exchange", "head"])
    func damaged(kind: String) async throws {
        let cache = site.cache()
        let bodies: [[UInt8]] = [Array(repeating: 1, count: 1000), Array(repeating: 2, count: 1000)]
        let stored = try #require(
            await cache.commit(try site.exchange("http://example.com/a", body: bodies[0]), for: .test("a")))
        _ = await cache.commit(try site.exchange("http://example.com/b", body: bodies[1]), for: .test("b"))
        switch kind {
        case "flip": try await damage("b", of: .test("a")) { $0[500] ^= 1 }
        case "cut": try await damage("b", of: .test("a")) { $0.removeLast() }
        case "exchange": try await damage("b", of: .test("a")) { $0 = bodies[1] }
        default: try await damage("h\(stored.generation)", of: .test("a")) { $0[$0.count / 2] ^= 1 }
        }
        guard case .miss(let reason) = try await cache.lookup(.test("a")) else { throw Unexpected() }
        if kind != "head" {
            #expect("\(reason)" == "\(CacheMiss.damaged)")
            guard case .miss(.nothingStored) = try await cache.lookup(.test("a")) else { throw Unexpected() }
        }
        guard case .fresh = try await cache.lookup(.test("b")) else { throw Unexpected() }
        site.clock.advance(by: .seconds(1))
        _ = await cache.commit(try site.exchange("http://example.com/a", body: bodies[0]), for: .test("a"))
        guard case .fresh(let found, _) = try await cache.lookup(.test("a")) else { throw Unexpected() }
        #expect(found.body == bodies[0])
    }

    @Test("have no result that is damaged or another's")
    func damagedResult() async throws {
        let (cache, store) = (site.cache(), site.store())
        let stored = try #require(await cache.commit(try site.exchange(), for: .test("a")))
        let request = ImageRequest(.bytes([]))
        let keys = ["one", "other"].map {
            VariantKey(source: .test("a"), request: request, list: BLAKE2bDigest(of: $0))
        }
        for (key, byte) in zip(keys, [UInt8(1), 2]) {
            await store.keep(
                EncodedImage(bytes: Array(repeating: byte, count: 100), declaredType: "image/png"), as: key,
                of: stored.generation)
        }
        func found(_ key: VariantKey) async throws -> UInt8? {
            try await store.variant(key, of: stored.generation, priority: .normal)?.bytes.first
        }
        #expect(try await found(keys[0]) == 1)
        let fields = keys.map { "v\(stored.generation).\(store.keys.result($0))" }
        let other = try await store.scripts.connection.send("HGET", store.keys.entry(.test("a")), fields[1]).bytes ?? []
        try await damage(fields[0], of: .test("a")) { $0[$0.count - 1] ^= 1 }
        #expect(try await found(keys[0]) == nil)
        try await damage(fields[0], of: .test("a")) { $0 = other }
        #expect(try await found(keys[0]) == nil)
        #expect(try await found(keys[1]) == 2)
    }

    @Test("live as long as they are fresh, and a while longer")
    func timesToLive() async throws {
        let store = site.store(limits: FleetLimits(staleTime: .seconds(100), longestTime: .seconds(10_000)))
        let cache = site.cache(store)
        _ = await cache.commit(try site.exchange("http://example.com/a"), for: .test("a"))
        _ = await cache.commit(
            try site.exchange("http://example.com/b", [.cacheControl: "max-age=1000000"]), for: .test("b"))
        for (name, seconds) in [("a", 160), ("b", 10_000)] as [(String, Int64)] {
            for key in [
                store.keys.entry(.test(name)), store.keys.epochs + store.keys.epoch("http://example.com/\(name)"),
            ] {
                let left = try await store.scripts.connection.send("PTTL", key).integer ?? 0
                #expect((seconds - 10) * 1000...seconds * 1000 ~= left)
            }
        }
    }

    @Test("larger than the limit aren't stored")
    func limit() async throws {
        let events = EventRecorder()
        let cache = site.cache(site.store(limits: FleetLimits(bytes: 100), events: events))
        #expect(await cache.commit(try site.exchange(body: Array(repeating: 1, count: 101)), for: .test("a")) == nil)
        #expect(await cache.commit(try site.exchange(body: Array(repeating: 1, count: 100)), for: .test("a")) != nil)
        #expect(events.events.filter { !$0.isMeasurement } == [.stored(bytes: 100)])
    }

    @Test("keep their results, and lose them when they are replaced")
    func results() async throws {
        let (cache, store) = (site.cache(), site.store())
        let stored = try #require(await cache.commit(try site.exchange(), for: .test("a")))
        let request = ImageRequest(.bytes([]), maxPixelSize: 640)
        let key = VariantKey(source: .test("a"), request: request, list: BLAKE2bDigest(of: "list"))
        let image = EncodedImage(bytes: [1, 2, 3], declaredType: "image/webp", size: 64, nativeSize: 128)
        await store.keep(image, as: key, of: stored.generation)
        let found = try #require(try await site.store().variant(key, of: stored.generation, priority: .normal))
        #expect(found.bytes == image.bytes)
        #expect(found.declaredType == "image/webp")
        #expect(found.size == 64)
        #expect(found.nativeSize == 128)
        site.clock.advance(by: .seconds(1))
        _ = await cache.commit(try site.exchange(), for: .test("a"))
        #expect(try await store.variant(key, of: stored.generation, priority: .normal) == nil)
        // A result of a response that is gone isn't stored.
        await store.keep(image, as: key, of: stored.generation)
        #expect(try await store.variant(key, of: stored.generation, priority: .normal) == nil)
    }

    @Test("that failed are counted for all machines until one succeeds")
    func failures() async throws {
        let store = site.store()
        #expect(await store.recordFailure(status: 503, of: .test("a"), at: site.clock.now)?.attempts == 1)
        #expect(await site.store().recordFailure(status: 500, of: .test("a"), at: site.clock.now)?.attempts == 2)
        #expect(try await store.failures(of: .test("a"))?.status == 500)
        _ = await site.cache().commit(try site.exchange(), for: .test("a"))
        #expect(try await store.failures(of: .test("a")) == nil)
        _ = await store.recordFailure(status: 503, of: .test("b"), at: site.clock.now)
        await store.forgetFailures(of: nil)
        #expect(try await store.failures(of: .test("b")) == nil)
    }

    @Test("are listed in order, counted and removed")
    func listing() async throws {
        let (cache, store) = (site.cache(), site.store())
        for name in ["a", "b", "c"] {
            _ = await cache.commit(try site.exchange("http://example.com/\(name)"), for: .test(name))
        }
        let all = try await store.entries(after: 0, limit: 2)
        #expect(all.map(\.target) == ["http://example.com/a", "http://example.com/b"])
        let rest = try await store.entries(after: try #require(all.last).generation, limit: 2)
        #expect(rest.map(\.key) == [.test("c")])
        let totals = try #require(try await store.totals())
        #expect(totals.entries == 3)
        #expect(totals.bytes > 100_000)
        #expect(totals.latestGeneration == rest[0].generation)
        #expect(await store.remove([all[1].generation]) { $0.target.hasSuffix("b") } == 1)
        #expect(await cache.removeAll() == 2)
        #expect(try await store.totals()?.entries == 0)
    }

    @Test("are never lost to a machine that changes another response of the source at the same time")
    func concurrentChanges() async throws {
        let vary: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept"]
        let site = site
        await withTaskGroup { group in
            for number in 0..<6 {
                group.addTask {
                    let exchange = try? site.exchange(
                        "http://a/", vary, request: [.accept: "image/\(number)"], body: [UInt8(number)])
                    if let exchange { _ = await site.cache().commit(exchange, for: .test("a")) }
                }
            }
        }
        for number in 0..<6 {
            guard
                case .fresh(let found, _) = try await site.cache().lookup(
                    .test("a"), headers: [.accept: "image/\(number)"])
            else { throw Unexpected() }
            #expect(found.body == [UInt8(number)])
        }
    }
}
