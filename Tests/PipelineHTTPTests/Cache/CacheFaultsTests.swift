import CSQLite
import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("What befalls a cache")
struct CacheFaultsTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("A folder that can't be made: loads go on, one warning says what to do")
    func unusableFolder() async throws {
        #expect(FileManager.default.createFile(atPath: folder.path + "/file", contents: Data()))
        let cache = cache(folder.path + "/file/cache")
        #expect(try await store(cache) == nil)
        #expect(try await store(cache, length: 100_000) == nil)
        guard case .miss(let reason) = try await cache.lookup(.test()) else { throw Unexpected() }
        #expect(reason == .unavailable)
        #expect(try await cache.statistics() == nil)
        #expect(await cache.cleanUp() == 0)
        #expect(log.warnings.count == 1)
        #expect(log.warnings.first?.contains("remove it or choose another folder") == true)
    }

    @Test("A folder that becomes usable is used after a minute")
    func becomesUsable() async throws {
        let file = folder.path + "/file"
        #expect(FileManager.default.createFile(atPath: file, contents: Data()))
        let cache = cache(file + "/cache")
        #expect(try await store(cache) == nil)
        unlink(file)
        clock.advance(by: .seconds(59))
        #expect(try await store(cache) == nil)
        clock.advance(by: .seconds(1))
        #expect(try await store(cache) != nil)
    }

    @Test("A database of a newer version is left as it is")
    func newerVersion() async throws {
        let first = cache()
        _ = try await store(first)
        _ = first.database.write { try $0.database.execute("PRAGMA user_version = 7") }
        await first.close()
        let cache = cache()
        #expect(try await cache.lookup(.test()).isMiss)
        #expect(try await store(cache) == nil)
        #expect(log.warnings.count == 1)
        #expect(log.warnings.first?.contains("newer version (7)") == true)
        let database = try SQLiteDatabase(path: path + "/responses.sqlite", readOnly: true)
        #expect(try database.first("SELECT count(*) FROM responses") { $0.integer(0) } == 1)
    }

    @Test("A full disk: nothing new is stored, what is stored is still found, and later it continues")
    func full() async throws {
        let cache = cache()
        _ = try await store(cache, "a")
        func limitPages(_ limit: Int) {
            _ = cache.database.write { _ = try $0.database.first("PRAGMA max_page_count = \(limit)") { $0.integer(0) } }
        }
        limitPages(1)
        for index in 0..<40 { _ = try await store(cache, "\(index)", length: 60_000) }
        #expect(try await store(cache, "b", length: 60_000) == nil)
        #expect(try await cache.lookup(.test("a")).isFresh)
        #expect(log.warnings.count == 1)
        #expect(log.warnings.first?.contains("no room") == true)
        limitPages(1_000_000)
        #expect(try await store(cache, "b", length: 60_000) != nil)
    }
}
