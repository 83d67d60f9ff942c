import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("What verify finds, repair fixes")
struct CacheVerifyTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    var databasePath: String { path + "/responses.sqlite" }

    /// A closed cache with three entries; the body of `c` is a file.
    func fill() async throws {
        let cache = cache()
        for name in ["a", "b"] { _ = try await store(cache, name) }
        _ = try await store(cache, "c", length: 100_000)
        await cache.close()
    }

    func change(_ sql: String) throws {
        try SQLiteDatabase(path: databasePath, readOnly: false).execute(sql)
    }

    func overwrite(_ path: String, at offset: Int, with bytes: [UInt8]) throws {
        let file = open(path, O_WRONLY)
        try #require(file >= 0)
        defer { close(file) }
        try #require(pwrite(file, bytes, bytes.count, offset) == bytes.count)
    }

    func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    /// Verifies, repairs, and verifies again; the first report.
    func mended(sourceLocation: SourceLocation = #_sourceLocation) async throws -> CacheReport {
        let before = try await cache().verify()
        #expect(!before.isSound, sourceLocation: sourceLocation)
        #expect(before.findings.allSatisfy { !$0.isRepaired }, sourceLocation: sourceLocation)
        let cache = cache()
        let repaired = try await cache.repair()
        #expect(repaired.isSound, "\(repaired.findings)", sourceLocation: sourceLocation)
        #expect(
            Set(repaired.findings.map(\.kind)) == Set(before.findings.map(\.kind)), sourceLocation: sourceLocation)
        let after = try await self.cache().verify()
        #expect(after.findings == [], sourceLocation: sourceLocation)
        #expect(try await store(cache, "new") != nil, sourceLocation: sourceLocation)
        #expect(try await cache.lookup(.test("new")).isFresh, sourceLocation: sourceLocation)
        return before
    }

    @Test("A sound cache is sound, and what was read is counted")
    func sound() async throws {
        try await fill()
        let report = try await cache().verify()
        #expect(report.findings == [])
        #expect(report.entries == 3)
        #expect(report.bytes == 100_200)
        #expect(try await cache().repair() == report)
    }

    @Test("A cache is verified while it is in use, and nothing in it counts as used by that")
    func inUse() async throws {
        let cache = cache(entryLimit: 2)
        _ = try await store(cache, "a")
        _ = try await store(cache, "b")
        #expect(try await cache.verify().entries == 2)
        _ = try await store(cache, "c")
        #expect(try await present(cache) == ["b", "c"])
    }

    @Test("A folder that isn't there yet is sound, and is not made")
    func missing() async throws {
        let report = try await cache().verify()
        #expect(report == CacheReport())
        #expect(access(path, F_OK) != 0)
    }

    @Test("A damaged page")
    func damagedPage() async throws {
        try await fill()
        try overwrite(databasePath, at: 16_384 * 2, with: Array(repeating: 0x5a, count: 9000))
        let report = try await mended()
        #expect(report.findings.map(\.kind) == [.damagedDatabase])
        #expect(bodyFiles == [])
    }

    @Test("A file cut short, and one that is not a database", arguments: [40_000, 1000])
    func cutShort(length: Int) async throws {
        try await fill()
        #expect(truncate(databasePath, length) == 0)
        #expect(try await mended().findings.contains { $0.kind == .damagedDatabase })
    }

    @Test("A newer version")
    func newerVersion() async throws {
        try await fill()
        try change("PRAGMA user_version = 7")
        let report = try await mended()
        #expect(report.findings.map(\.kind) == [.newerVersion])
        #expect(report.findings.first?.detail.contains("Update this program") == true)
    }

    @Test("A missing, cut or changed body file", arguments: ["missing", "cut", "flip"])
    func bodyFile(fault: String) async throws {
        try await fill()
        let file = path + "/bodies/" + (try #require(bodyFiles.first))
        switch fault {
        case "missing": #expect(unlink(file) == 0)
        case "cut": #expect(truncate(file, 99_999) == 0)
        default: try overwrite(file, at: 70_001, with: [0x77])
        }
        let report = try await mended()
        #expect(report.findings.map(\.kind) == [fault == "missing" ? .missingBody : .damagedEntry])
        #expect(report.findings.first?.subject == "http://example.com/a.jpg")
        #expect(report.entries == 3)
        #expect(bodyFiles == [])
        #expect(try await cache().lookup(.test("b")).isFresh)
    }

    @Test(
        "A row that makes no sense",
        arguments: ["fields = x'01'", "selecting = x'01'", "body_length = -1", "body_checksum = 0", "source = x'00'"])
    func damagedRow(change: String) async throws {
        try await fill()
        try self.change("UPDATE responses SET \(change) WHERE body_file IS NULL")
        #expect(try await mended().findings.map(\.kind) == [.damagedEntry, .damagedEntry])
        #expect(try await cache().lookup(.test("c")).isFresh)
    }

    @Test("A body file and a body in the database that belong to no entry")
    func orphans() async throws {
        try await fill()
        try change("INSERT INTO bodies VALUES (1, x'00')")
        let unfinished = path + "/bodies/" + BodyName.random() + ".new"
        #expect(FileManager.default.createFile(atPath: unfinished, contents: Data([1])))
        #expect(chmod(unfinished, 0o600) == 0)
        let report = try await mended()
        #expect(report.findings.map(\.kind) == [.orphanBody, .orphanBody])
        #expect(report.findings.first?.subject == unfinished)
        #expect(bodyFiles.count == 1)
    }

    /// A closed cache in which two answers have two results each; the first one's number.
    func fillWithVariants() async throws -> Int64 {
        let cache = cache()
        var generations: [Int64] = []
        for name in ["a", "b"] {
            let stored = try #require(try await store(cache, name))
            generations.append(stored.generation)
            for list in ["webp", "jpeg"] {
                let image = EncodedImage(bytes: bytes(5000), declaredType: "image/\(list)", size: 80, nativeSize: 160)
                await cache.keep(image, as: try .test(of: stored.key, list: list), of: stored.generation)
            }
        }
        await cache.close()
        return generations[0]
    }

    @Test("Results are counted, and sound ones are sound")
    func variants() async throws {
        _ = try await fillWithVariants()
        let report = try await cache().verify()
        #expect(report.findings == [])
        #expect(report.variants == 4)
        #expect(report.bytes == 20_200)
    }

    @Test(
        "A result that is not what was stored, or has no key, or no possible size",
        arguments: [
            "bytes = zeroblob(5000)", "bytes = substr(bytes, 1, 4999)", "bytes = x''", "checksum = checksum + 1",
            "variant = x'00'", "width = -1", "native_height = -1",
        ])
    func damagedVariant(change: String) async throws {
        let generation = try await fillWithVariants()
        try self.change("UPDATE variants SET \(change) WHERE rowid = 2")
        let report = try await mended()
        #expect(report.findings.map(\.kind) == [.damagedVariant])
        #expect(report.findings.first?.subject == "http://example.com/a.jpg")
        let cache = cache()
        #expect(try await cache.verify().variants == 3)
        let webp = try VariantKey.test(of: .test("a"), list: "webp")
        #expect(try await cache.variant(webp, of: generation, priority: .normal) != nil)
        #expect(try await present(cache) == ["a", "b"])
    }

    @Test("A result whose answer is gone")
    func orphanVariant() async throws {
        let generation = try await fillWithVariants()
        try change("DROP TRIGGER responses_delete_variants; DELETE FROM responses WHERE generation = \(generation)")
        let report = try await mended()
        #expect(report.findings.map(\.kind) == [.orphanVariant, .orphanVariant])
        #expect(report.findings.first?.subject == databasePath)
        #expect(try await cache().verify().variants == 2)
    }

    @Test("A damaged result is a miss")
    func damagedResult() async throws {
        let generation = try await fillWithVariants()
        for change in ["width = -1", "bytes = zeroblob(5000)"] {
            try self.change("UPDATE variants SET \(change)")
            for list in ["webp", "jpeg"] {
                let key = try VariantKey.test(of: .test("a"), list: list)
                #expect(try await cache().variant(key, of: generation, priority: .normal) == nil)
            }
        }
    }

    @Test("Tables that are not those of the version")
    func otherTables() async throws {
        try await fill()
        try change("DROP TABLE bodies")
        let report = try await mended()
        #expect(report.findings.map(\.kind) == [.damagedDatabase])
    }

    @Test("Totals that are wrong")
    func totals() async throws {
        try await fill()
        try change("UPDATE totals SET bytes = 5")
        #expect(try await mended().findings.map(\.kind) == [.wrongTotals])
        #expect(try #require(try await cache().statistics()).bytes > 100_000)
    }

    @Test("Files that others may read")
    func modes() async throws {
        try await fill()
        let body = path + "/bodies/" + (try #require(bodyFiles.first))
        for file in [path, databasePath, body] { #expect(chmod(file, 0o755) == 0) }
        let report = try await mended()
        #expect(report.findings.map(\.kind) == [.readableByOthers, .readableByOthers, .readableByOthers])
        #expect(mode(path) == 0o700)
        #expect(mode(databasePath) == 0o600)
        #expect(mode(body) == 0o600)
    }

    @Test("A folder that its owner may not write")
    func readOnlyFolder() async throws {
        try await fill()
        #expect(chmod(path, 0o500) == 0)
        let report = try await mended()
        #expect(report.findings.map(\.kind).contains(.unusable))
        #expect(mode(path) == 0o700)
    }

    @Test("A clock that was set back")
    func clockSetBack() async throws {
        try await fill()
        clock.advance(by: .seconds(-2 * 86_400))
        #expect(try await mended().findings.map(\.kind) == [.fromTheFuture, .fromTheFuture, .fromTheFuture])
    }

    @Test("A cache that is not a folder can't be repaired, and the report says what to do")
    func noFolder() async throws {
        #expect(FileManager.default.createFile(atPath: path, contents: Data()))
        let report = try await cache().repair()
        #expect(!report.isSound)
        #expect(report.findings.map(\.kind) == [.unusable])
        #expect(report.findings.first?.detail.contains("Remove it") == true)
    }

    @Test("A finding shows no query and no user info")
    func redacted() async throws {
        let cache = cache()
        let exchange = try exchange(url: "http://user:secret@example.com/a.jpg?token=secret")
        _ = await cache.commit(exchange, for: .test())
        await cache.close()
        try change("UPDATE responses SET body_checksum = 0")
        let finding = try #require(try await self.cache().verify().findings.first)
        #expect(finding.subject.hasPrefix("http://example.com/a.jpg"))
        #expect(!"\(finding)".contains("secret"))
    }

    @Test("A cancelled check ends with cancellation")
    func cancellation() async throws {
        try await fill()
        let cache = cache()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await cache.verify() }
        }
        await task.value
    }
}
