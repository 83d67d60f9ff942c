import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("Removing stored responses", .inEachStore)
struct HTTPCacheRemovingTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("Removing by key, by URL and of all")
    func removing() async throws {
        let cache = cache()
        _ = await cache.commit(try exchange(url: "http://example.com/a?x=1"), for: .test("a"))
        _ = await cache.commit(try exchange(url: "http://example.com/a?x=1"), for: .test("b"))
        _ = await cache.commit(try exchange(url: "http://example.com/a?x=2", body: bytes(100_000)), for: .test("c"))
        _ = await cache.commit(try exchange(url: "http://example.com/d"), for: .test("d"))
        #expect(await cache.remove(url: try #require(URL(string: "http://EXAMPLE.com/a?x=1#f"))) == 2)
        #expect(try await present(cache) == ["c", "d"])
        #expect(await cache.remove(.test("d")) == 1)
        #expect(await cache.remove(.test("d")) == 0)
        #expect(await cache.removeAll() == 1)
        #expect(try await present(cache) == [])
        #expect(try await cache.statistics()?.bytes == 0)
        #expect(bodyFiles == [])
    }

    @Test("Removing by tag reaches every response whose fields have the tag")
    func removingByTag() async throws {
        let cache = cache()
        let (keys, tags) = (HTTPField.Name("Surrogate-Key"), HTTPField.Name("Cache-Tag"))
        func tagged(_ name: HTTPField.Name?, _ value: String) throws -> HTTPExchange {
            try exchange([.cacheControl: "max-age=60", try #require(name): value], url: "http://example.com/\(value)")
        }
        _ = await cache.commit(try tagged(keys, "one two"), for: .test("a"))
        _ = await cache.commit(try tagged(tags, "two , three"), for: .test("b"))
        let three = await cache.commit(try tagged(keys, "three"), for: .test("c"))
        _ = await cache.commit(try exchange(), for: .test("d"))
        #expect(await cache.remove(tag: "tw") == 0)
        #expect(await cache.remove(tag: "two") == 2)
        #expect(try await present(cache) == ["c", "d"])
        // A confirmation gives it other tags.
        let stored = try #require(three)
        _ = await cache.freshen(
            stored, by: try .test("http://example.com/three", status: 304, [try #require(keys): "four"], at: clock.now))
        #expect(await cache.remove(tag: "three") == 0)
        #expect(await cache.remove(tag: "four") == 1)
        #expect(try await present(cache) == ["d"])
    }

    @Test("Clean-up removes what is expired by the rules under which it was stored")
    func cleanUpExpired() async throws {
        let cache = cache()
        _ = await cache.commit(try exchange([.cacheControl: "max-age=10"]), for: .test("a"))
        _ = await cache.commit(try exchange([.cacheControl: "max-age=100"]), for: .test("b"))
        _ = await cache.commit(
            try exchange([.cacheControl: "max-age=10"]), for: .test("c"), expiry: .after(.seconds(100)))
        _ = await cache.commit(try exchange([.cacheControl: "max-age=10"]), for: .test("d"), expiry: .never)
        clock.advance(by: .seconds(50))
        #expect(await cache.cleanUp(.expired) == 1)
        #expect(try await present(cache) == ["b", "c", "d"])
        clock.advance(by: .seconds(1e9))
        #expect(await cache.cleanUp() == 2)
        #expect(try await present(cache) == ["d"])
    }

    @Test("Clean-up by last use and by creation")
    func cleanUpByTime() async throws {
        let cache = cache()
        let day = 86_400.0
        for name in ["a", "b"] { _ = await cache.commit(try exchange(), for: .test(name)) }
        clock.advance(by: .seconds(5 * day))
        _ = try await cache.lookup(.test("a"))
        _ = await cache.commit(try exchange(), for: .test("c"))
        clock.advance(by: .seconds(3 * day))
        #expect(await cache.cleanUp(.unused(.seconds(7 * day))) == 1)
        #expect(try await present(cache) == ["a", "c"])
        #expect(await cache.cleanUp(.stored(.seconds(7 * day))) == 1)
        #expect(try await present(cache) == ["c"])
        #expect(await cache.cleanUp(.stored(.seconds(7 * day))) == 0)
    }

    @Test("What became invalid after it was asked for is not stored, also where another cache on the folder was told")
    func invalidBeforeCommit() async throws {
        let (storing, other) = (cache(), cache())
        let asked = try exchange()
        _ = await storing.commit(asked, for: .test("a"))
        clock.advance(by: .seconds(1))
        #expect(await other.remove(url: asked.url) == 1)
        #expect(await storing.commit(asked, for: .test("a")) == nil)
        #expect(try await storing.lookup(.test("a")).isMiss)
        clock.advance(by: .seconds(1))
        #expect(await storing.commit(try exchange(), for: .test("a")) != nil)
    }

    @Test("A URL with its scheme's own port, or without a path, is the same target")
    func sameTarget() async throws {
        let cache = cache()
        for url in ["http://example.com:80/a", "HTTP://example.com/a", "http://me@example.com/a#x"] {
            _ = await cache.commit(try exchange(url: url), for: .test(url))
        }
        clock.advance(by: .seconds(1))
        #expect(await cache.remove(url: try #require(URL(string: "http://example.com/a"))) == 3)
        _ = await cache.commit(try exchange(url: "https://example.com"), for: .test("root"))
        #expect(await cache.remove(url: try #require(URL(string: "https://example.com:443/"))) == 1)
    }
}
