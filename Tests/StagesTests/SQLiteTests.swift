import CSQLite
import FoundationEssentials
import Glibc
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import Stages

@Suite("The database behind the stored responses, and what befalls it")
struct SQLiteTests {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path + "/cache" }
    var databasePath: String { path + "/responses.sqlite" }

    func cache(_ path: String? = nil) -> HTTPCache {
        HTTPCache(folder: path ?? self.path, clock: clock, logger: log.logger)
    }

    func store(_ cache: HTTPCache, _ name: String = "a", length: Int = 100) async throws -> StoredResponse? {
        let body = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        return await cache.commit(try .test(body: body, at: clock.now), for: .test(name))
    }

    func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    /// Overwrites a part of a file.
    func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) throws {
        let file = open(path, O_WRONLY)
        try #require(file >= 0)
        defer { close(file) }
        try #require(pwrite(file, bytes, bytes.count, offset) == bytes.count)
    }

    // MARK: Opening

    @Test("Folders are nobody else's to enter and files nobody else's to read")
    func modes() async throws {
        let cache = cache(path + "/deeper")
        _ = try await store(cache, length: 100_000)
        #expect(mode(path) == 0o700)
        #expect(mode(path + "/deeper") == 0o700)
        #expect(mode(path + "/deeper/bodies") == 0o700)
        for name in ["responses.sqlite", "responses.sqlite-wal", "responses.sqlite-shm"] {
            #expect(mode(path + "/deeper/" + name) == 0o600)
        }
        for name in TemporaryFolder.names(path + "/deeper/bodies") {
            #expect(mode(path + "/deeper/bodies/" + name) == 0o600)
        }
    }

    @Test("Nothing is opened before the first use")
    func lazy() async throws {
        let cache = cache()
        #expect(TemporaryFolder.names(folder.path) == [])
        _ = try await cache.lookup(.test())
        #expect(TemporaryFolder.names(folder.path) == ["cache"])
    }

    @Test("The database is as was measured: write-ahead log, 16 KB pages, room given back")
    func settings() async throws {
        let cache = cache()
        _ = try await store(cache)
        let settings = cache.database.read { database in
            try ["journal_mode", "page_size", "auto_vacuum", "user_version"].map { name in
                try database.first("PRAGMA \(name)") { $0.text(0) ?? "" } ?? ""
            }
        }
        #expect(settings == ["wal", "16384", "2", "1"])
    }

    @Test("Many open one folder at once")
    func openingAtOnce() async throws {
        let caches = (0..<12).map { _ in cache() }
        try await withThrowingTaskGroup { group in
            for (index, cache) in caches.enumerated() {
                group.addTask { try #require(try await self.store(cache, "\(index)") != nil) }
            }
            try await group.waitForAll()
        }
        #expect(try await caches[0].statistics()?.entries == 12)
        #expect(log.warnings == [])
    }

    @Test("Closing leaves one file")
    func closing() async throws {
        let cache = cache()
        _ = try await store(cache)
        _ = try await cache.lookup(.test())
        await cache.close()
        #expect(TemporaryFolder.names(path) == ["bodies", "responses.sqlite"])
    }

    // MARK: Standing aside

    @Test("A folder that can't be made: loads go on, one warning says what to do")
    func unusableFolder() async throws {
        #expect(FileManager.default.createFile(atPath: folder.path + "/file", contents: Data()))
        let cache = cache(folder.path + "/file/cache")
        #expect(try await store(cache) == nil)
        #expect(try await store(cache, length: 100_000) == nil)
        guard case .miss(let reason) = try await cache.lookup(.test()) else { throw Unexpected() }
        #expect(reason == "the cache can't be used")
        #expect(try await cache.statistics() == nil)
        #expect(await cache.cleanUp() == 0)
        #expect(log.warnings.count == 1)
        #expect(log.warnings.first?.contains("Make the folder writable") == true)
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
        let database = try SQLiteDatabase(path: databasePath, readOnly: true)
        #expect(try database.first("SELECT count(*) FROM responses") { $0.integer(0) } == 1)
    }

    @Test("A full disk: nothing new is stored, what is stored is still found, and later it goes on")
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

    // MARK: Damage

    @Test("A file that is no database is made anew")
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
            #expect(found == nil || found?.body == (0..<9000).map { UInt8(truncatingIfNeeded: $0) })
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
        #expect(reason == "what was stored is damaged")
        #expect(try await cache.statistics()?.entries == 0)
    }

    @Test(
        "A damaged, short or missing body file reads as a miss and is removed", arguments: ["flip", "cut", "missing"])
    func damagedBodyFile(kind: String) async throws {
        let cache = cache()
        _ = try await store(cache, length: 100_000)
        let file = path + "/bodies/" + (try #require(TemporaryFolder.names(path + "/bodies").first))
        switch kind {
        case "flip": try overwrite(file, at: 70_001, with: [0x77])
        case "cut": #expect(truncate(file, 99_999) == 0)
        default: #expect(unlink(file) == 0)
        }
        #expect(try await cache.lookup(.test()).isMiss)
        #expect(try await cache.statistics()?.entries == 0)
        #expect(TemporaryFolder.names(path + "/bodies") == [])
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

    // MARK: The parts

    @Test("Fields keep their order, the case of their names and their bytes")
    func fields() throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: try #require(.init("X-b")), lenientValue: [0xff, 0x20, 0x09, 0x41]))
        fields.append(HTTPField(name: try #require(.init("x-A")), value: ""))
        fields.append(HTTPField(name: try #require(.init("X-B")), value: "2"))
        let decoded = try #require(StoredFields.decode(StoredFields.encode(fields)))
        #expect(decoded.map(\.name.rawName) == ["X-b", "x-A", "X-B"])
        #expect(decoded.map { $0.withUnsafeBytesOfValue { Array($0) } } == [[0xff, 0x20, 0x09, 0x41], [], [0x32]])
        let encoded = StoredFields.encode(fields)
        for length in 1..<encoded.count where length != 15 && length != 26 {
            #expect(StoredFields.decode(Array(encoded[..<length])) == nil)
        }
        #expect(StoredFields.decode([]) == [:])
    }

    @Test("The checksum tells every changed, moved and missing byte")
    func checksum() {
        let body = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let sum = BodyChecksum(of: body).value
        for index in body.indices {
            var changed = body
            changed[index] ^= 0x10
            #expect(BodyChecksum(of: changed).value != sum)
            #expect(BodyChecksum(of: Array(body[..<index])).value != sum)
        }
        #expect(BodyChecksum(of: Array(body[64..<128] + body[..<64] + body[128...])).value != sum)
        #expect(BodyChecksum(of: body + [0]).value != sum)
        #expect(BodyChecksum(of: Array(repeating: 0, count: 300)).value != sum)
        #expect(BodyChecksum(of: body).value == sum)
    }
}
