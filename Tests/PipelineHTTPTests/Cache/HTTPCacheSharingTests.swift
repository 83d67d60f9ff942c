import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("The stored responses in numbers, and shared")
struct HTTPCacheSharingTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("Another cache of this process on the same folder doesn't cost it its locks: no process takes its log away")
    func opensTwice() async throws {
        let first = cache()
        _ = await first.commit(try exchange(), for: .test("a"))
        // Closing any file of a process ends all locks that the process has on it.
        let second = cache()
        #expect(try await second.lookup(.test("a")).isFresh)
        #expect(try await CacheTrials.run("look", path).said == "1\n")
        #expect(TemporaryFolder.names(path).contains("responses.sqlite-wal"))
        _ = await first.commit(try exchange(), for: .test("b"))
        #expect(try await CacheTrials.run("look", path).said == "2\n")
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
        #expect(bodyFiles.count == statistics.bodyFiles)
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
        #expect(bodyFiles.count == (stored == nil ? 0 : 1))
    }
}
