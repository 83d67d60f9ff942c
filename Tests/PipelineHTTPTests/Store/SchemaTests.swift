import Foundation
import LibC
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("A database of another version")
struct SchemaTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws {
        folder = try TemporaryFolder()
        try FirstSchema.write(path, now: clock.now)
    }

    private var databasePath: String { path + "/responses.sqlite" }

    private func version() throws -> Int64? {
        try SQLiteDatabase(path: databasePath, readOnly: true).first("PRAGMA user_version") { $0.integer(0) }
    }

    /// Finds what the first version stored, and that nothing is wrong.
    private func expectAll(_ cache: HTTPCache, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for name in FirstSchema.names {
            let found = try await cache.lookup(.test(name))
            #expect(found.isFresh, sourceLocation: sourceLocation)
            #expect(found.response?.body == FirstSchema.body(name), sourceLocation: sourceLocation)
        }
        #expect(try version() == ResponseSchema.version, sourceLocation: sourceLocation)
        #expect(try await cache.verify().findings == [], sourceLocation: sourceLocation)
        #expect(log.warnings == [], sourceLocation: sourceLocation)
    }

    @Test("What SQLite needs for a moment stays in memory: temporary files would lie outside of the private folder")
    func temporaryData() throws {
        let bounds = StorageBounds(byteLimit: 1 << 20, entryLimit: nil)
        let connections = try ResponseConnections(CacheFolder(path: path), bounds)
        let writer = try #require(connections.writer)
        // 2 is memory.
        #expect(try writer.first("PRAGMA temp_store") { $0.integer(0) } == 2)
    }

    @Test("An older one is brought to this version, and everything in it is still found")
    func migrates() async throws {
        let cache = cache()
        try await expectAll(cache)
        let stored = try #require(try await cache.lookup(.test("short")).response)
        let key = try VariantKey.test(of: .test("short"))
        let image = EncodedImage(bytes: [1, 2, 3], declaredType: "image/webp", size: 1, nativeSize: 1)
        await cache.keep(image, as: key, of: stored.generation)
        #expect(try await cache.variant(key, of: stored.generation, priority: .normal)?.bytes == [1, 2, 3])
        #expect(await cache.remove(.test("short")) == 1)
        #expect(try await cache.verify().variants == 0)
        #expect(try await store(cache, "new") != nil)
        #expect(try await present(cache).isEmpty)
        #expect(try await cache.statistics()?.entries == 2)
    }

    @Test("Verify finds nothing wrong with an older one, and leaves it as it is")
    func verified() async throws {
        let report = try await cache().verify()
        #expect(report.findings == [])
        #expect(report.entries == 2)
        #expect(try version() == 1)
    }

    @Test("A process killed in the middle of a migration leaves the older one, which the next brings to this version")
    func killed() async throws {
        let migrating = try Process.run(
            CacheTrials.executable, ["migrate", databasePath, ResponseSchema.steps[1]], saying: "half")
        var log = stat()
        #expect(stat(databasePath + "-wal", &log) == 0 && log.st_size > 500_000)
        kill(migrating.processIdentifier, SIGKILL)
        migrating.waitUntilExit()
        #expect(try version() == 1)
        try await expectAll(cache())
    }

    @Test("Processes that open an older one at once all find everything")
    func atOnce() async throws {
        let said = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<4 { group.addTask { try await CacheTrials.run("look", path).said } }
            for _ in 0..<4 {
                group.addTask { "\(try await cache().statistics()?.entries ?? -1)\n" }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(said == Array(repeating: "2\n", count: 8))
        try await expectAll(cache())
    }

    @Test(
        "One whose tables are not those of its version is made again",
        arguments: [
            "DROP TABLE bodies", "ALTER TABLE totals DROP COLUMN generation", "CREATE TABLE variants (a)",
            "DROP TABLE responses; CREATE TABLE responses (a)",
        ])
    func otherTables(change: String) async throws {
        let names = ["responses_insert", "responses_delete", "responses_resize"]
        let triggers = change.hasPrefix("ALTER") ? names.map { "DROP TRIGGER \($0);" }.joined() : ""
        try SQLiteDatabase(path: databasePath, readOnly: false).execute(triggers + change)
        let cache = cache()
        _ = try await cache.lookup(.test("short"))
        _ = try await store(cache, "a")
        #expect(try await store(cache, "b") != nil)
        #expect(try await cache.lookup(.test("b")).isFresh)
        #expect(log.warnings.count == 1)
        #expect(log.warnings.first?.contains("is damaged") == true)
        #expect(try await cache.verify().findings.allSatisfy { $0.kind == .orphanBody })
    }
}
