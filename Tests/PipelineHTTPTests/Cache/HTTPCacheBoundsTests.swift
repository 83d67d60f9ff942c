import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("The stored responses are bounded")
struct HTTPCacheBoundsTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

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

    @Test("Beyond a bound a 128th more goes than has to, so that the next need not evict")
    func evictsSomeAtATime() async throws {
        let cache = cache(entryLimit: 256)
        for index in 0..<257 { _ = await cache.commit(try exchange(), for: .test("\(index)")) }
        #expect(try #require(try await cache.statistics()).entries == 254)
        #expect(try await cache.lookup(.test("2")).isMiss)
        #expect(try await cache.lookup(.test("3")).isFresh)
        for index in 257..<259 { _ = await cache.commit(try exchange(), for: .test("\(index)")) }
        #expect(try #require(try await cache.statistics()).entries == 256)
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
        #expect(bodyFiles.count == statistics.bodyFiles)
        #expect(statistics.bodyFiles == (length > 65_536 ? statistics.entries : 0))
    }

    @Test(
        "With its log, its free pages and its files the folder stays within a tenth of the bound, whatever comes and goes"
    )
    func folderSize() async throws {
        let limit = 32 << 20
        let cache = cache(byteLimit: limit)
        var largest = 0
        for index in 0..<1200 {
            // First rows alone, then files, then both: what the rows leave free has to go.
            let length = index < 700 ? 60_000 : index < 900 ? 200_000 : [500, 60_000, 150_000][index % 3]
            _ = await cache.commit(try exchange(body: bytes(length, seed: index)), for: .test("\(index)"))
            if index % 10 == 0 { largest = max(largest, folderBytes) }
        }
        #expect(largest < limit / 10 * 11)
        #expect(try #require(try await cache.statistics()).bytes > limit / 10 * 8)
    }

    /// The sizes of all files.
    private var folderBytes: Int {
        let files = TemporaryFolder.names(path).map { path + "/" + $0 } + bodyFiles.map { path + "/bodies/" + $0 }
        return files.reduce(0) { sum, file in
            var status = stat()
            return sum + (stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0)
        }
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
            try FileManager.default.attributesOfItem(atPath: path + "/responses.sqlite")[.size] as? Int
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
}
