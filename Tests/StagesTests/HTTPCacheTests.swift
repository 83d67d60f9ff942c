import FoundationEssentials
import HTTPTypes
import Pipeline
import Testing

@testable import Stages

@Suite("The stored responses")
struct HTTPCacheTests {
    let folder: TemporaryFolder
    let clock = SettableClock()
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    func cache(byteLimit: Int = 1_000_000_000, entryLimit: Int? = nil) -> HTTPCache {
        HTTPCache(
            folder: folder.path + "/cache", byteLimit: byteLimit, entryLimit: entryLimit, clock: clock,
            logger: log.logger)
    }

    func exchange(
        _ headers: HTTPFields = [.cacheControl: "max-age=60"], request: HTTPFields = [:], status: Int = 200,
        body: [UInt8] = Array("body".utf8)
    ) throws -> HTTPExchange {
        try .test(request: request, status: status, headers, body: body, at: clock.now)
    }

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

    @Test("An answer is fresh for its lifetime and stale after it", arguments: [10, 100_000])
    func freshThenStale(bodyLength: Int) async throws {
        let cache = cache()
        let body = (0..<bodyLength).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        _ = await cache.commit(try exchange(body: body), for: .test())
        clock.advance(by: 59)
        #expect(try await cache.lookup(.test()).isFresh)
        clock.advance(by: 1)
        let found = try await cache.lookup(.test())
        #expect(found.isStale)
        #expect(found.response?.body == body)
    }

    @Test("An empty cache misses and says so")
    func emptyMisses() async throws {
        guard case .miss(let reason) = try await cache().lookup(.test()) else { throw Unexpected() }
        #expect(reason == "nothing stored")
    }

    @Test("What another cache object stored in the folder is found")
    func sharedFolder() async throws {
        let first = cache()
        let second = cache()
        _ = await first.commit(try exchange(body: [1]), for: .test("a"))
        #expect(try await second.lookup(.test("a")).response?.body == [1])
        _ = await second.commit(try exchange(body: [2]), for: .test("a"))
        #expect(try await first.lookup(.test("a")).response?.body == [2])
        await first.close()
        #expect(try await second.lookup(.test("a")).response?.body == [2])
        #expect(try await first.lookup(.test("a")).response?.body == [2])
    }
}

struct Unexpected: Error {}
