import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("A cache touches only its own files")
struct ForeignFilesTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    private func make(_ name: String, _ text: String = "mine", mode: mode_t = 0o644) throws {
        let file = open(name, O_WRONLY | O_CREAT | O_EXCL, mode)
        try #require(file >= 0)
        defer { close(file) }
        #expect(write(file, text, text.utf8.count) == text.utf8.count)
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    /// Everything that removes or repairs.
    private func tidy(_ cache: HTTPCache) async throws {
        await cache.cleanUp(.unused(.zero))
        _ = try await cache.repair()
        await cache.removeAll()
        await cache.close()
    }

    @Test("Files in the folder of bodies that no cache has written stay, with their modes, and aren't findings")
    func foreignBodies() async throws {
        let first = cache()
        _ = try await store(first, "a", length: 100_000)
        await first.close()
        let names = ["thesis.txt", "notes", "0123456789abcdef01234567", "response-1.body", "draft.new"]
        for name in names { try make(path + "/bodies/" + name) }
        let cache = cache()
        _ = try await store(cache, "b", length: 100_000)
        await cache.close()
        #expect(try await cache.verify().findings == [])
        try await tidy(cache)
        #expect(bodyFiles == names.sorted())
        #expect(names.allSatisfy { mode(path + "/bodies/" + $0) == 0o644 })
    }

    @Test("Names of body files have a bounded length, however long the URL")
    func boundedNames() async throws {
        let url = "http://example.com/" + String(repeating: "x", count: 4000)
        let cache = cache()
        _ = await cache.commit(try .test(url, body: bytes(100_000), at: clock.now), for: .test(url))
        #expect(bodyFiles.count == 1)
        #expect(bodyFiles.allSatisfy { $0.utf8.count < 100 })
    }

    @Test("What a process left that died goes: bodies of this version and of earlier ones, finished or not")
    func orphans() async throws {
        let first = cache()
        _ = try await store(first, "a")
        await first.close()
        let earlier = "3w5e11264sgsf1y2p0r4p5g2qh"
        let name = try BodyFiles(folder: path + "/bodies").write([1, 2, 3])
        for name in [earlier, earlier + ".new", name + ".new"] { try make(path + "/bodies/" + name, mode: 0o600) }
        let cache = cache()
        #expect(try await cache.verify().findings.map(\.kind) == Array(repeating: .orphanBody, count: 4))
        await cache.cleanUp()
        #expect(bodyFiles == [])
    }

    @Test("A body under a name of an earlier version is found, and goes with its row")
    func adopted() async throws {
        let cache = cache()
        _ = try await store(cache, "a", length: 100_000)
        let name = try #require(bodyFiles.first)
        let earlier = "3w5e11264sgsf1y2p0r4p5g2qh"
        #expect(rename(path + "/bodies/" + name, path + "/bodies/" + earlier) == 0)
        _ = cache.database.write { try $0.database.run("UPDATE responses SET body_file = ?1", .text(earlier)) }
        #expect(try await cache.lookup(.test("a")).isFresh)
        #expect(try await cache.verify().findings == [])
        #expect(await cache.remove(.test("a")) == 1)
        #expect(bodyFiles == [])
    }

    @Test("A row that names a file outside of the folder of bodies is damaged, and the file stays")
    func foreignBodyFile() async throws {
        let cache = cache()
        _ = try await store(cache, "a", length: 100_000)
        let victim = folder.path + "/victim"
        let name = try #require(bodyFiles.first)
        #expect(link(path + "/bodies/" + name, victim) == 0)
        _ = cache.database.write { try $0.database.execute("UPDATE responses SET body_file = '../../victim'") }
        #expect(try await cache.lookup(.test("a")).isMiss)
        #expect(try await cache.statistics()?.entries == 0)
        #expect(access(victim, F_OK) == 0)
    }

    @Test("A row that names a foreign file among the bodies takes nothing with it")
    func foreignNameInRow() async throws {
        let cache = cache()
        _ = try await store(cache, "a", length: 100_000)
        try make(path + "/bodies/thesis.txt")
        _ = cache.database.write { try $0.database.execute("UPDATE responses SET body_file = 'thesis.txt'") }
        await cache.removeAll()
        #expect(bodyFiles == ["thesis.txt"])
    }

    @Test("A folder that holds other files and no cache is left alone, loads go on, and one warning says why")
    func foreignFolder() async throws {
        try #require(mkdir(path, 0o755) == 0 && mkdir(path + "/bodies", 0o755) == 0)
        try make(path + "/readme.md")
        try make(path + "/bodies/thesis.txt")
        let cache = cache()
        #expect(try await cache.lookup(.test("a")).isMiss)
        #expect(try await store(cache, "a") == nil)
        #expect(try await store(cache, "a", length: 100_000) == nil)
        try await tidy(cache)
        #expect(TemporaryFolder.names(path) == ["bodies", "readme.md"])
        #expect(bodyFiles == ["thesis.txt"])
        #expect(mode(path) == 0o755 && mode(path + "/bodies") == 0o755 && mode(path + "/readme.md") == 0o644)
        #expect(log.warnings.count == 1)
        #expect(log.warnings.first?.contains("other files") == true)
        #expect(try await cache.verify().findings.map(\.kind) == [.unusable])
    }

    @Test("Another program's database under the cache's name is left alone")
    func foreignDatabase() async throws {
        try #require(mkdir(path, 0o700) == 0)
        try make(path + "/responses.sqlite", "", mode: 0o600)
        try SQLiteDatabase(path: path + "/responses.sqlite", readOnly: false).execute("CREATE TABLE theses (text)")
        let cache = cache()
        #expect(try await store(cache, "a") == nil)
        try await tidy(cache)
        let database = try SQLiteDatabase(path: path + "/responses.sqlite", readOnly: true)
        #expect(try database.all("SELECT name FROM sqlite_schema") { $0.text(0) } == ["theses"])
        #expect(log.warnings.count == 1)
    }

    @Test("An empty folder, and one that lost its database, become caches")
    func emptyFolder() async throws {
        try #require(mkdir(path, 0o755) == 0)
        let first = cache()
        #expect(try await store(first, "a", length: 100_000) != nil)
        await first.close()
        CacheFolder(path: path).removeDatabase()
        let second = cache()
        #expect(try await store(second, "b", length: 100_000) != nil)
        #expect(log.warnings == [])
    }
}
