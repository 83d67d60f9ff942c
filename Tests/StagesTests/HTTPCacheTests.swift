import FoundationEssentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import Stages

@Suite("The stored responses")
struct HTTPCacheTests {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    func cache(byteLimit: Int = 1_000_000_000, entryLimit: Int? = nil, isShared: Bool = false) -> HTTPCache {
        HTTPCache(
            folder: folder.path + "/cache", byteLimit: byteLimit, entryLimit: entryLimit, isShared: isShared,
            clock: clock, logger: log.logger)
    }

    func exchange(
        _ headers: HTTPFields = [.cacheControl: "max-age=60"], url: String = "http://example.com/a.jpg",
        request: HTTPFields = [:], status: Int = 200, body: [UInt8] = Array("body".utf8)
    ) throws -> HTTPExchange {
        try .test(url, request: request, status: status, headers, body: body, at: clock.now)
    }

    /// A body that differs from those of other lengths and seeds.
    func bytes(_ count: Int, seed: Int = 1) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: count), count: count)
        for index in stride(from: 0, to: count, by: 509) { bytes[index] = UInt8(truncatingIfNeeded: index &+ seed) }
        return bytes
    }

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
        #expect(try await cache.statistics()?.bodyFiles == (length > 65_536 ? 1 : 0))
    }

    @Test("An answer is fresh for its lifetime and stale after it", arguments: [10, 100_000])
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
        #expect(reason == "nothing stored")
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
        #expect(reason == "2 stored for other values of Vary's fields")
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
        #expect(TemporaryFolder.names(folder.path + "/cache/bodies") == [])
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

    // MARK: Confirming

    @Test("A 304 makes the entry fresh again and restarts its age")
    func freshen() async throws {
        let cache = cache()
        let stored = try #require(
            await cache.commit(
                try exchange([.cacheControl: "max-age=60", .eTag: "\"a\"", .date: HTTPDate.format(clock.now)]),
                for: .test()))
        clock.advance(by: .seconds(100))
        #expect(try await cache.lookup(.test()).isStale)
        let confirmed = await cache.freshen(
            stored, with: [.cacheControl: "max-age=30"], requestTime: clock.now, responseTime: clock.now)
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

    @Test("A 304 begins a fixed lifetime anew")
    func freshenFixed() async throws {
        let cache = cache()
        let stored = try #require(await cache.commit(try exchange(), for: .test(), expiry: .after(.seconds(10))))
        clock.advance(by: .seconds(20))
        _ = await cache.freshen(
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
        let confirmed = await cache.freshen(stored, with: update, requestTime: clock.now, responseTime: clock.now)
        #expect(confirmed.body == stored.body)
        #expect(try await cache.lookup(.test()).isMiss)
    }

    @Test("A 304 for an entry that is gone brings nothing back")
    func freshenGone() async throws {
        let cache = cache()
        let stored = try #require(await cache.commit(try exchange(), for: .test()))
        await cache.removeAll()
        let confirmed = await cache.freshen(stored, with: [:], requestTime: clock.now, responseTime: clock.now)
        #expect(confirmed.body == stored.body)
        #expect(try await cache.lookup(.test()).isMiss)
    }

    @Test("A 304 that names another Vary is found by the request that it answered")
    func freshenVary() async throws {
        let cache = cache()
        let stored = try #require(await cache.commit(try exchange(request: [.accept: "a"]), for: .test()))
        _ = await cache.freshen(
            stored, with: [.vary: "Accept"], requestHeaders: [.accept: "a"], requestTime: clock.now,
            responseTime: clock.now)
        #expect(try await cache.lookup(.test(), headers: [.accept: "a"]).isFresh)
        #expect(try await cache.lookup(.test(), headers: [.accept: "b"]).isMiss)
    }

    // MARK: Bounds

    @Test("At the bound in entries the least recently used goes first; reading is use")
    func entryLimit() async throws {
        let cache = cache(entryLimit: 3)
        for name in ["a", "b", "c"] { _ = await cache.commit(try exchange(), for: .test(name)) }
        _ = try await cache.lookup(.test("a"))
        _ = await cache.commit(try exchange(), for: .test("d"))
        #expect(try await present(cache) == ["a", "c", "d"])
        _ = try await cache.lookup(.test("c"))
        _ = await cache.commit(try exchange(), for: .test("e"))
        #expect(try await present(cache) == ["c", "d", "e"])
    }

    /// Which of the test's sources are stored, without using them.
    func present(_ cache: HTTPCache) async throws -> [String] {
        let keys = Set(try await cache.entries().map(\.key))
        return ["a", "b", "c", "d", "e"].filter { keys.contains(.test($0)) }
    }

    @Test(
        "Bytes are bounded: bodies in rows and in files alike, with what the rows themselves take",
        arguments: [1000, 100_000])
    func byteLimit(length: Int) async throws {
        let cache = cache(byteLimit: 10 * length + 5 * 400)
        for index in 0..<30 {
            _ = await cache.commit(try exchange(body: bytes(length, seed: index)), for: .test("\(index)"))
            let statistics = try #require(try await cache.statistics())
            #expect(statistics.bytes <= cache.byteLimit)
        }
        let statistics = try #require(try await cache.statistics())
        #expect(statistics.entries >= 7)
        #expect(try await cache.lookup(.test("29")).response?.body == bytes(length, seed: 29))
        #expect(try await cache.lookup(.test("0")).isMiss)
        #expect(TemporaryFolder.names(folder.path + "/cache/bodies").count == statistics.bodyFiles)
        #expect(statistics.bodyFiles == (length > 65_536 ? statistics.entries : 0))
    }

    @Test("What alone is larger than the bound is not stored, and evicts nothing")
    func tooLarge() async throws {
        let cache = cache(byteLimit: 10_000)
        _ = await cache.commit(try exchange(), for: .test("a"))
        #expect(await cache.commit(try exchange(body: bytes(10_000)), for: .test("b")) == nil)
        #expect(try await cache.lookup(.test("a")).isFresh)
    }

    @Test("The database's file stays near the bound while entries of all sizes come and go")
    func fileSize() async throws {
        let limit = 8 << 20
        let cache = cache(byteLimit: limit)
        for index in 0..<600 {
            let length = [300, 5_000, 11_000, 17_000, 40_000, 65_000][index % 6]
            _ = await cache.commit(try exchange(body: bytes(length, seed: index)), for: .test("\(index)"))
        }
        await cache.close()
        let size =
            try FileManager.default.attributesOfItem(atPath: folder.path + "/cache/responses.sqlite")[.size] as? Int
        #expect(try #require(size) < limit * 11 / 10 + (1 << 20))
        #expect(try #require(try await cache.statistics()).bytes > limit / 2)
    }

    @Test("With the clock set back, what is new is still not the first to go")
    func evictionWithClockSetBack() async throws {
        let cache = cache(entryLimit: 2)
        for name in ["a", "b"] { _ = await cache.commit(try exchange(), for: .test(name)) }
        clock.advance(by: .seconds(-86_400))
        _ = await cache.commit(try exchange(), for: .test("c"))
        #expect(try await present(cache) == ["b", "c"])
    }

    // MARK: Removing

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
        #expect(TemporaryFolder.names(folder.path + "/cache/bodies") == [])
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

    @Test("Clean-up of many goes on to the end, and gives their room back")
    func cleanUpMany() async throws {
        let cache = cache()
        try await withThrowingTaskGroup { group in
            for index in 0..<450 {
                group.addTask {
                    _ = await cache.commit(try self.exchange(body: self.bytes(10_000)), for: .test("\(index)"))
                }
            }
            try await group.waitForAll()
        }
        clock.advance(by: .seconds(100))
        #expect(await cache.cleanUp() == 450)
        await cache.close()
        let size =
            try FileManager.default.attributesOfItem(atPath: folder.path + "/cache/responses.sqlite")[.size] as? Int
        #expect(try #require(size) < 1_000_000)
    }

    @Test("Files that a dead process left go with the next clean-up, others stay")
    func orphans() async throws {
        let cache = cache()
        _ = await cache.commit(try exchange(body: bytes(100_000)), for: .test("a"))
        let bodies = folder.path + "/cache/bodies"
        let before = TemporaryFolder.names(bodies)
        for name in ["orphan", "unfinished.new"] {
            #expect(FileManager.default.createFile(atPath: bodies + "/" + name, contents: Data([1])))
        }
        await cache.cleanUp(.unused(.seconds(1000)))
        #expect(TemporaryFolder.names(bodies) == before)
        #expect(before.count == 1)
    }

    // MARK: Lists, numbers, failures

    @Test("The list of entries goes page by page, oldest first")
    func list() async throws {
        let cache = cache()
        for name in ["a", "b", "c"] { _ = await cache.commit(try exchange(), for: .test(name)) }
        let first = try await cache.entries(limit: 2)
        let second = try await cache.entries(after: try #require(first.last).generation, limit: 2)
        #expect(first.map(\.key) == [.test("a"), .test("b")])
        #expect(second.map(\.key) == [.test("c")])
        #expect(try await cache.entries(after: try #require(second.last).generation).isEmpty)
        #expect(second.first?.target == "http://example.com/a.jpg")
        #expect(second.first?.freshUntil == clock.now + 60)
        #expect(second.first?.bodyLength == 4)
    }

    @Test("Statistics count entries, bytes, hits and misses")
    func statistics() async throws {
        let cache = cache()
        _ = await cache.commit(try exchange(), for: .test("a"))
        _ = try await cache.lookup(.test("a"))
        _ = try await cache.lookup(.test("a"))
        _ = try await cache.lookup(.test("b"))
        let statistics = try #require(try await cache.statistics())
        #expect(statistics.entries == 1)
        #expect(statistics.hits == 2)
        #expect(statistics.misses == 1)
        #expect(statistics.bytes > 4)
    }

    @Test("Failed attempts are counted until one succeeds")
    func failures() async throws {
        let cache = cache()
        #expect(try await cache.failures(of: .test()) == nil)
        await cache.recordFailure(status: 503, of: .test())
        clock.advance(by: .seconds(5))
        let second = await cache.recordFailure(status: 404, of: .test())
        #expect(second == FailedAttempts(status: 404, attempts: 2, latest: clock.now))
        #expect(try await cache.failures(of: .test()) == second)
        #expect(try await cache.failures(of: .test("b")) == nil)
        _ = await cache.commit(try exchange(status: 404), for: .test())
        #expect(try await cache.failures(of: .test()) == second)
        _ = await cache.commit(try exchange(), for: .test())
        #expect(try await cache.failures(of: .test()) == nil)
    }

    // MARK: Several users

    @Test("What another cache object stored in the folder is found, also after one has closed")
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

    @Test("Two objects that store, find and evict at once never give a wrong body")
    func concurrent() async throws {
        let caches = [cache(byteLimit: 2_000_000), cache(byteLimit: 2_000_000)]
        try await withThrowingTaskGroup { group in
            for index in 0..<400 {
                group.addTask {
                    let cache = caches[index % 2]
                    let seed = index % 40
                    let body = self.bytes(seed % 4 == 0 ? 90_000 + seed : 3000 + seed, seed: seed)
                    if index % 3 == 0 { _ = await cache.commit(try self.exchange(body: body), for: .test("\(seed)")) }
                    let found = try? await cache.lookup(.test("\(seed)")).response
                    #expect(found == nil || found?.body == body)
                    if index % 50 == 49 { await cache.cleanUp() }
                }
            }
            try await group.waitForAll()
        }
        #expect(try #require(try await caches[0].statistics()).bytes <= 2_000_000)
        await caches[0].cleanUp()
        let statistics = try #require(try await caches[1].statistics())
        #expect(TemporaryFolder.names(folder.path + "/cache/bodies").count == statistics.bodyFiles)
        #expect(log.warnings == [])
    }

    @Test("A cancelled lookup ends with cancellation, a cancelled commit still has an outcome")
    func cancellation() async throws {
        let cache = cache()
        let exchange = try exchange(body: bytes(100_000))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await cache.lookup(.test()) }
            return await cache.commit(exchange, for: .test())
        }
        let stored = await task.value
        let found = try await cache.lookup(.test())
        #expect(found.isMiss == (stored == nil))
        await cache.cleanUp()
        #expect(TemporaryFolder.names(folder.path + "/cache/bodies").count == (stored == nil ? 0 : 1))
    }
}

struct Unexpected: Error {}
