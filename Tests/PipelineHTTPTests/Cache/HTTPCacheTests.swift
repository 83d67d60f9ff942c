import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("The stored responses", .inEachStore)
struct HTTPCacheTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    // MARK: Storing and finding

    @Test("What was stored is found again, field by field and byte by byte")
    func storedIsFound() async throws {
        let cache = cache()
        var headers: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\""]
        let odd = try #require(HTTPField.Name("X-CaSe"))
        headers.append(HTTPField(name: odd, value: [0x61, 0xe9, 0xff, 0x62]))
        headers.append(HTTPField(name: .setCookie, value: "a=1"))
        headers.append(HTTPField(name: .setCookie, value: "b=2"))
        let stored = try #require(await cache.commit(exchange(headers), for: .test()))
        let found = try #require(try await cache.lookup(.test()).response)
        #expect(found.generation == stored.generation)
        #expect(found.headers.map(\.name.rawName) == ["Cache-Control", "ETag", "X-CaSe", "Set-Cookie", "Set-Cookie"])
        #expect(found.headers[fields: odd].first?.withUnsafeBytesOfValue { Array($0) } == [0x61, 0xe9, 0xff, 0x62])
        #expect(found.headers == headers)
        #expect(found.body == Array("body".utf8))
        #expect(found.status == 200)
        #expect(found.target == "http://example.com/a.jpg")
        #expect(found.requestTime == clock.now)
        #expect(log.warnings == [])
    }

    @Test("Bodies of every length come back whole", arguments: [0, 1, 63, 64, 65, 20_000, 65_536, 65_537, 1_000_000])
    func lengths(length: Int) async throws {
        let cache = cache()
        _ = await cache.commit(try exchange(body: bytes(length)), for: .test())
        #expect(try await cache.lookup(.test()).response?.body == bytes(length))
        let hasFile = cache.folder != nil && length > 65_536
        #expect(try await cache.statistics()?.bodyFiles == (hasFile ? 1 : 0))
    }

    @Test("A response is fresh for its lifetime and stale after it", arguments: [10, 100_000])
    func freshThenStale(bodyLength: Int) async throws {
        let cache = cache()
        _ = await cache.commit(try exchange(body: bytes(bodyLength)), for: .test())
        clock.advance(by: .seconds(59))
        #expect(try await cache.lookup(.test()).isFresh)
        clock.advance(by: .seconds(1))
        let found = try await cache.lookup(.test())
        #expect(found.isStale)
        #expect(found.response?.body == bytes(bodyLength))
    }

    @Test("An empty cache misses and says so")
    func emptyMisses() async throws {
        guard case .miss(let reason) = try await cache().lookup(.test()) else { throw Unexpected() }
        #expect(reason == .nothingStored)
    }

    @Test(
        "no-store never reaches the disk, whatever the caller's expiry",
        arguments: [Expiry.standard, .never, .after(.seconds(60))])
    func noStore(expiry: Expiry) async throws {
        let cache = cache()
        #expect(await cache.commit(try exchange([.cacheControl: "no-store"]), for: .test(), expiry: expiry) == nil)
        #expect(try await cache.lookup(.test(), expiry: expiry).isMiss)
        #expect(try await cache.statistics()?.entries == 0)
    }

    @Test("expireAfter is fixed as the answer is stored; a reader may shorten it, never lengthen it")
    func expireAfter() async throws {
        let cache = cache()
        let stored = await cache.commit(
            try exchange([.cacheControl: "max-age=1"]), for: .test(), expiry: .after(.seconds(100)))
        #expect(stored?.expires == clock.now + 100)
        clock.advance(by: .seconds(50))
        #expect(try await cache.lookup(.test(), expiry: .after(.seconds(100))).isFresh)
        #expect(try await cache.lookup(.test(), expiry: .after(.seconds(40))).isStale)
        #expect(try await cache.lookup(.test(), expiry: .after(.seconds(100)), rules: .http).isStale)
        clock.advance(by: .seconds(50))
        #expect(try await cache.lookup(.test(), expiry: .after(.seconds(1000))).isStale)
        #expect(try await cache.lookup(.test(), expiry: .never).isFresh)
    }

    @Test("Statuses other than 2xx are stored by HTTP's rules")
    func otherStatuses() async throws {
        let cache = cache()
        for status in [301, 404, 410] {
            _ = await cache.commit(try exchange(status: status), for: .test("\(status)"))
            #expect(try await cache.lookup(.test("\(status)")).response?.status == status)
        }
        #expect(await cache.commit(try exchange([:], status: 500), for: .test("500")) == nil)
    }

    @Test("A URL is stored without its credentials and its fragment")
    func targetWithoutCredentials() async throws {
        let cache = cache()
        let stored = await cache.commit(try exchange(url: "HTTP://user:secret@Example.com/a?x=1@2#f"), for: .test())
        #expect(stored?.target == "http://example.com/a?x=1@2")
    }

    // MARK: Variants

    @Test("Variants of one source live side by side, and each request finds its own")
    func variants() async throws {
        let cache = cache()
        for (language, body) in [("en", 1), ("de", 2)] as [(String, UInt8)] {
            let exchange = try exchange(
                [.cacheControl: "max-age=60", .vary: "Accept-Language"], request: [.acceptLanguage: language],
                body: [body])
            _ = await cache.commit(exchange, for: .test())
        }
        #expect(try await cache.lookup(.test(), headers: [.acceptLanguage: "en"]).response?.body == [1])
        #expect(try await cache.lookup(.test(), headers: [.acceptLanguage: "de"]).response?.body == [2])
        guard case .miss(let reason) = try await cache.lookup(.test()) else { throw Unexpected() }
        #expect(reason == .otherValues(2))
        #expect(await cache.remove(.test()) == 2)
    }

    @Test("A new answer to the same request takes the old one's place under a new number")
    func replaces() async throws {
        let cache = cache()
        let first = try #require(await cache.commit(try exchange(body: [1]), for: .test()))
        let second = try #require(await cache.commit(try exchange(body: bytes(100_000)), for: .test()))
        let third = try #require(await cache.commit(try exchange(body: [3]), for: .test()))
        #expect(Set([first.generation, second.generation, third.generation]).count == 3)
        #expect(try await cache.lookup(.test()).response?.body == [3])
        #expect(try await cache.statistics()?.entries == 1)
        #expect(bodyFiles == [])
        await cache.evict(second)
        #expect(try await cache.lookup(.test()).response?.body == [3])
        await cache.evict(third)
        #expect(try await cache.lookup(.test()).isMiss)
    }

    @Test("A number is never given again, not even to the only row")
    func generations() async throws {
        let cache = cache()
        let first = try #require(await cache.commit(try exchange(), for: .test()))
        await cache.removeAll()
        await cache.close()
        let second = try #require(await cache.commit(try exchange(), for: .test()))
        #expect(second.generation > first.generation)
    }

    @Test("Of several answers that fit, the one with the latest Date counts (RFC 9111 section 4.1)")
    func latestDate() async throws {
        let cache = cache()
        func headers(_ vary: String, _ age: Double) -> HTTPFields {
            [.cacheControl: "max-age=600", .vary: vary, .date: HTTPDate.format(clock.now - age)]
        }
        // The second doesn't fit the first one's request, but a third request fits both.
        _ = await cache.commit(
            try exchange(headers("Accept", 10), request: [.accept: "a", .acceptLanguage: "x"], body: [1]), for: .test())
        _ = await cache.commit(
            try exchange(headers("Accept-Language", 20), request: [.accept: "b", .acceptLanguage: "y"], body: [2]),
            for: .test())
        #expect(try await cache.lookup(.test(), headers: [.accept: "a", .acceptLanguage: "y"]).response?.body == [1])
    }
}
