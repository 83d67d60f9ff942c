import CSQLite
import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("The database behind the stored responses")
struct SQLiteTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
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

    @Test("A long log is restarted and not cut: while it is cut no lookup can begin")
    func logIsBegunAnew() throws {
        let folder = CacheFolder(path: path)
        try folder.create()
        let connections = try ResponseConnections(
            folder, StorageBounds(byteLimit: 1 << 20, entryLimit: nil))
        let writer = try #require(connections.writer)
        func length() -> off_t {
            var status = stat()
            return stat(path + "/responses.sqlite-wal", &status) == 0 ? status.st_size : -1
        }
        try writer.execute("CREATE TABLE words (word)")
        try writer.execute("INSERT INTO words VALUES (randomblob(900000))")
        #expect(writer.pagesInLog > 50)
        let longest = length()
        connections.shortenLog()
        #expect(writer.pagesInLog == 0)
        #expect(length() == longest)
        try writer.execute("INSERT INTO words VALUES (1)")
        #expect((1...5).contains(writer.pagesInLog))
        // SQLite cuts what is beyond the limit with the next change.
        #expect(length() == 1 << 20)
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
        #expect(settings == ["wal", "16384", "2", "3"])
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

    @Test("What lives across suspension points is aligned to 16 bytes at most, which release builds need")
    func alignment() {
        #expect(MemoryLayout<BodyChecksum>.alignment <= 16)
        #expect(MemoryLayout<BLAKE2bDigest>.alignment <= 16)
        #expect(MemoryLayout<ResponseRow>.alignment <= 16)
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
