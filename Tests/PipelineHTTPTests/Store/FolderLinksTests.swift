import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("A cache never goes through a link, nor into a folder of others")
struct FolderLinksTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    private var elsewhere: String { folder.path + "/elsewhere" }

    private func fill() async throws {
        let cache = cache()
        _ = try await store(cache, "a", length: 100_000)
        _ = try await store(cache, "b")
        await cache.close()
    }

    /// Loads nothing, stores nothing, warns once, and a repair leaves what is behind the link alone.
    private func expectAside(_ kind: CacheReport.Kind, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let cache = cache()
        #expect(try await cache.lookup(.test("b")).isMiss, sourceLocation: sourceLocation)
        #expect(try await store(cache, "c") == nil, sourceLocation: sourceLocation)
        #expect(try await store(cache, "c", length: 100_000) == nil, sourceLocation: sourceLocation)
        #expect(log.warnings.count == 1, "\(log.warnings)", sourceLocation: sourceLocation)
        #expect(try await cache.verify().findings.contains { $0.kind == kind }, sourceLocation: sourceLocation)
        _ = try await cache.repair()
        await cache.removeAll()
        await cache.close()
    }

    @Test("The folder itself is a link")
    func folderIsLink() async throws {
        try #require(mkdir(elsewhere, 0o755) == 0 && symlink(elsewhere, path) == 0)
        try await expectAside(.unusable)
        #expect(TemporaryFolder.names(elsewhere) == [])
    }

    @Test("The folder of bodies is a link: the files that it leads to stay as they are")
    func bodiesAreLink() async throws {
        try await fill()
        try #require(mkdir(elsewhere, 0o755) == 0)
        let name = elsewhere + "/3w5e11264sgsf1y2p0r4p5g2qh"
        close(open(name, O_CREAT | O_WRONLY, 0o600))
        TemporaryFolder.remove(path + "/bodies")
        try #require(symlink(elsewhere, path + "/bodies") == 0)
        try await expectAside(.unusable)
        #expect(access(name, F_OK) == 0)
        var status = stat()
        #expect(stat(elsewhere, &status) == 0 && status.st_mode & 0o777 == 0o755)
    }

    @Test("The database, or one of the files next to it, is a link", arguments: ["", "-wal", "-shm"])
    func databaseIsLink(suffix: String) async throws {
        try await fill()
        let file = path + "/responses.sqlite" + suffix
        if suffix.isEmpty {
            try #require(rename(file, elsewhere) == 0)
        } else {
            close(open(elsewhere, O_CREAT | O_WRONLY, 0o600))
        }
        try #require(symlink(elsewhere, file) == 0)
        var before = stat()
        try #require(stat(elsewhere, &before) == 0)
        try await expectAside(.unusable)
        var after = stat()
        #expect(stat(elsewhere, &after) == 0 && after.st_size == before.st_size)
        #expect(after.modified.tv_sec == before.modified.tv_sec && after.modified.tv_nsec == before.modified.tv_nsec)
    }

    @Test("The file of leases is a link: no lease is available, and what it leads to keeps its bytes")
    func leasesAreLink() async throws {
        try await fill()
        let file = open(elsewhere, O_CREAT | O_WRONLY, 0o600)
        let text = [UInt8](repeating: 7, count: 0x4000)
        #expect(write(file, text, text.count) == text.count)
        close(file)
        unlink(path + "/leases")
        try #require(symlink(elsewhere, path + "/leases") == 0)
        let cache = cache()
        let turn = try await cache.turn(.test("a"), headers: .zero, patience: .zero) { false }
        guard case .alone = turn else { throw Unexpected() }
        #expect(FileManager.default.contents(atPath: elsewhere).map(Array.init) == text)
    }

    @Test("A body that is a link is damaged, and what it leads to stays")
    func bodyIsLink() async throws {
        try await fill()
        let body = path + "/bodies/" + (try #require(bodyFiles.first))
        try #require(rename(body, elsewhere) == 0 && symlink(elsewhere, body) == 0)
        let cache = cache()
        #expect(try await cache.lookup(.test("a")).isMiss)
        #expect(access(elsewhere, F_OK) == 0)
    }

    @Test("A body that is a pipe is damaged: nobody waits for its writer")
    func bodyIsPipe() async throws {
        try await fill()
        let body = path + "/bodies/" + (try #require(bodyFiles.first))
        try #require(unlink(body) == 0 && mkfifo(body, 0o600) == 0)
        #expect(try await cache().lookup(.test("a")).isMiss)
    }

    @Test("A folder in which others may write is not used until a repair has closed it", arguments: ["", "/bodies"])
    func writable(inner: String) async throws {
        try await fill()
        try #require(chmod(path + inner, 0o777) == 0)
        let cache = cache()
        #expect(try await store(cache, "c") == nil)
        #expect(log.warnings.count == 1)
        #expect(log.warnings.first?.contains("write") == true)
        #expect(try await cache.repair().isSound)
        clock.advance(by: .seconds(60))
        #expect(try await store(cache, "c") != nil)
    }

    @Test("Another user's folder is not used", .enabled(if: geteuid() == 0, "only root can give files away"))
    func othersFolder() async throws {
        try #require(mkdir(path, 0o755) == 0 && chown(path, 65_534, 65_534) == 0)
        try await expectAside(.unusable)
        #expect(TemporaryFolder.names(path) == [])
    }
}
