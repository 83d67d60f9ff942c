import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Confirmed responses (RFC 9111 section 4.3.4)", .inEachStore)
struct HTTPCacheConfirmingTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("A 304 makes the entry fresh again and restarts its age")
    func freshen() async throws {
        let cache = cache()
        let stored = try #require(
            await cache.commit(
                try exchange([.cacheControl: "max-age=60", .eTag: "\"a\"", .date: HTTPDate.format(clock.now)]),
                for: .test()))
        clock.advance(by: .seconds(100))
        #expect(try await cache.lookup(.test()).isStale)
        let confirmed = try #require(
            try await cache.freshen(
                stored, with: [.cacheControl: "max-age=30"], requestTime: clock.now, responseTime: clock.now))
        #expect(confirmed.body == stored.body)
        clock.advance(by: .seconds(29))
        let found = try await cache.lookup(.test())
        #expect(found.isFresh)
        #expect(found.freshness?.age == .seconds(29))
        #expect(found.response?.generation == stored.generation)
        #expect(found.response?.headers == [.eTag: "\"a\"", .cacheControl: "max-age=30"])
        clock.advance(by: .seconds(1))
        #expect(try await cache.lookup(.test()).isStale)
    }

    @Test("A 304 restarts a fixed lifetime")
    func freshenFixed() async throws {
        let cache = cache()
        let stored = try #require(await cache.commit(try exchange(), for: .test(), expiry: .after(.seconds(10))))
        clock.advance(by: .seconds(20))
        _ = try await cache.freshen(
            stored, with: [:], requestTime: clock.now, responseTime: clock.now, expiry: .after(.seconds(10)))
        clock.advance(by: .seconds(9))
        #expect(try await cache.lookup(.test(), expiry: .after(.seconds(10))).isFresh)
    }

    @Test(
        "A 304 that says no-store or varies by everything ends the entry",
        arguments: [[.cacheControl: "no-store"], [.vary: "*"]] as [HTTPFields])
    func freshenEnds(update: HTTPFields) async throws {
        let cache = cache()
        let stored = try #require(await cache.commit(try exchange(), for: .test()))
        #expect(
            try await cache.freshen(stored, with: update, requestTime: clock.now, responseTime: clock.now)?.body == nil)
        #expect(try await cache.lookup(.test()).isMiss)
    }

    @Test("A 304 for an entry that is gone brings nothing back")
    func freshenGone() async throws {
        let cache = cache()
        let stored = try #require(await cache.commit(try exchange(), for: .test()))
        await cache.removeAll()
        #expect(
            try await cache.freshen(stored, with: [:], requestTime: clock.now, responseTime: clock.now)?.body == nil)
        #expect(try await cache.lookup(.test()).isMiss)
    }

    @Test("A 304 that names another Vary is found by the request that it answered")
    func freshenVary() async throws {
        let cache = cache()
        let stored = try #require(await cache.commit(try exchange(request: [.accept: "a"]), for: .test()))
        _ = try await cache.freshen(
            stored, with: [.vary: "Accept"], requestHeaders: [.accept: "a"], requestTime: clock.now,
            responseTime: clock.now)
        #expect(try await cache.lookup(.test(), headers: [.accept: "a"]).isFresh)
        #expect(try await cache.lookup(.test(), headers: [.accept: "b"]).isMiss)
    }
}
