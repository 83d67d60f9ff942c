import CSQLite
import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("What is damaged heals")
struct CacheDamageTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    var databasePath: String { path + "/responses.sqlite" }

    /// Overwrites a part of a file.
    func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) throws {
        let file = open(path, O_WRONLY)
        try #require(file >= 0)
        defer { close(file) }
        try #require(pwrite(file, bytes, bytes.count, offset) == bytes.count)
    }

    @Test("A file that is not a database is made again")
    func noDatabase() async throws {
        #expect(mkdir(path, 0o700) == 0)
        let garbage = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
        #expect(FileManager.default.createFile(atPath: databasePath, contents: garbage))
        let cache = cache()
        #expect(try await cache.lookup(.test()).isMiss)
        #expect(try await store(cache) != nil)
        #expect(try await cache.lookup(.test()).isFresh)
        #expect(log.warnings.count == 1)
        #expect(log.warnings.first?.contains("is damaged") == true)
    }

    @Test(
        "A database cut short or overwritten in the middle gives no wrong answer and heals",
        arguments: ["cut", "schema", "middle"])
    func damagedDatabase(kind: String) async throws {
        let first = cache()
        for index in 0..<200 { _ = try await store(first, "\(index)", length: 9000) }
        await first.close()
        switch kind {
        case "cut": #expect(truncate(databasePath, 16_384 * 20) == 0)
        case "schema": try overwrite(databasePath, at: 100, with: Array(repeating: 0xff, count: 16_000))
        default:
            for page in stride(from: 2, to: 100, by: 3) {
                try overwrite(databasePath, at: page * 16_384, with: Array(repeating: 0x5a, count: 8000))
            }
        }
        let cache = cache()
        for index in 0..<200 {
            let found = try await cache.lookup(.test("\(index)")).response
            #expect(found == nil || found?.body == bytes(9000))
        }
        for index in 0..<200 { _ = try await store(cache, "\(index)", length: 9000) }
        for index in 0..<200 { #expect(try await cache.lookup(.test("\(index)")).isFresh) }
        #expect(log.warnings.count == 1)
    }

    @Test("A damaged body in the database reads as a miss and is removed")
    func damagedInlineBody() async throws {
        let cache = cache()
        _ = try await store(cache)
        _ = cache.database.write { try $0.database.execute("UPDATE bodies SET bytes = zeroblob(100)") }
        guard case .miss(let reason) = try await cache.lookup(.test()) else { throw Unexpected() }
        #expect(reason == .damaged)
        #expect(try await cache.statistics()?.entries == 0)
    }

    @Test(
        "A damaged, short or missing body file reads as a miss and is removed", arguments: ["flip", "cut", "missing"])
    func damagedBodyFile(kind: String) async throws {
        let cache = cache()
        _ = try await store(cache, length: 100_000)
        let file = path + "/bodies/" + (try #require(bodyFiles.first))
        switch kind {
        case "flip": try overwrite(file, at: 70_001, with: [0x77])
        case "cut": #expect(truncate(file, 99_999) == 0)
        default: #expect(unlink(file) == 0)
        }
        #expect(try await cache.lookup(.test()).isMiss)
        #expect(try await cache.statistics()?.entries == 0)
        #expect(bodyFiles == [])
        #expect(try await store(cache, length: 100_000) != nil)
        #expect(try await cache.lookup(.test()).isFresh)
    }

    @Test(
        "A row that makes no sense reads as a miss and is removed",
        arguments: ["fields = x'01'", "selecting = x'01'", "body_length = -1", "body_checksum = 0"])
    func damagedRow(change: String) async throws {
        let cache = cache()
        _ = try await store(cache)
        _ = cache.database.write { try $0.database.execute("UPDATE responses SET \(change)") }
        #expect(try await cache.lookup(.test()).isMiss)
        #expect(try await cache.statistics()?.entries == 0)
        #expect(log.warnings == [])
    }

    @Test("A folder that is removed while in use comes back with the next answer")
    func removedFolder() async throws {
        let cache = cache()
        _ = try await store(cache, "a")
        _ = try await store(cache, "b", length: 100_000)
        TemporaryFolder.remove(path)
        #expect(try await cache.lookup(.test("b")).isMiss)
        #expect(try await store(cache, "c", length: 100_000) != nil)
        #expect(try await store(cache, "d") != nil)
        #expect(try await cache.lookup(.test("c")).isFresh)
        #expect(try await cache.lookup(.test("d")).isFresh)
        #expect(try await cache.lookup(.test("a")).isMiss)
        #expect(try await self.cache().lookup(.test("d")).isFresh)
    }

    @Test("Two objects on one damaged database both heal")
    func twoHeal() async throws {
        let caches = [cache(), cache()]
        for cache in caches { _ = try await store(cache, "a") }
        await caches[0].close()
        await caches[1].close()
        try overwrite(databasePath, at: 0, with: Array(repeating: 1, count: 4096))
        for cache in caches { #expect(try await cache.lookup(.test("a")).isMiss) }
        _ = try await store(caches[0], "b")
        #expect(try await caches[1].lookup(.test("b")).isFresh)
        #expect(try await store(caches[1], "c") != nil)
        #expect(try await caches[0].lookup(.test("c")).isFresh)
    }
}
