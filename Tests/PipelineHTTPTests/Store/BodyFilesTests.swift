import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Files of a cache, and a writer that is busy")
struct BodyFilesTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("An invalidation that comes while a response is on its way to the disk wins")
    func invalidDuringCommit() async throws {
        let cache = cache()
        let asked = try exchange()
        clock.advance(by: .seconds(1))
        // The writer is busy: the commit waits, and the invalidation is noted meanwhile.
        let barrier = Barrier()
        let busy = Task { await cache.change { _ in barrier.wait() } }
        let commit = Task { await cache.commit(asked, for: .test("a")) }
        for _ in 0..<100 { await Task.yield() }
        let removal = Task { await cache.remove(url: asked.url) }
        while !cache.isInvalid(asked.url.targetText, askedAt: asked.requestTime) { await Task.yield() }
        barrier.open()
        _ = await (busy.value, commit.value, removal.value)
        #expect(try await cache.lookup(.test("a")).isMiss)
    }

    @Test("Files that a dead process left go with the next clean-up, others stay")
    func orphans() async throws {
        let cache = cache()
        _ = await cache.commit(try exchange(body: bytes(100_000)), for: .test("a"))
        let bodies = path + "/bodies"
        let before = bodyFiles
        for name in [BodyName.random(), BodyName.random() + ".new"] {
            #expect(FileManager.default.createFile(atPath: bodies + "/" + name, contents: Data([1])))
        }
        await cache.cleanUp(.unused(.seconds(1000)))
        #expect(bodyFiles == before)
        #expect(before.count == 1)
    }

    @Test("Files that a dead process left go once the next process stores something, without anybody's doing")
    func orphansBySelf() async throws {
        let first = cache()
        _ = await first.commit(try exchange(body: bytes(100_000)), for: .test("a"))
        await first.close()
        let before = bodyFiles
        #expect(before.count == 1)
        for name in [BodyName.random(), BodyName.random() + ".new"] {
            #expect(FileManager.default.createFile(atPath: path + "/bodies/" + name, contents: Data([1])))
        }
        let next = cache()
        _ = try await next.lookup(.test("a"))
        #expect(bodyFiles.count == 3)
        _ = await next.commit(try exchange(), for: .test("b"))
        await next.close()
        #expect(bodyFiles == before)
        #expect(try await next.lookup(.test("a")).isFresh)
    }

    @Test("A body that is missing doesn't hide a file that a dead process left")
    func orphanAndMissing() async throws {
        let first = cache()
        for name in ["a", "b"] { _ = await first.commit(try exchange(body: bytes(100_000)), for: .test(name)) }
        await first.close()
        let names = bodyFiles
        #expect(unlink(path + "/bodies/" + names[0]) == 0)
        #expect(FileManager.default.createFile(atPath: path + "/bodies/" + BodyName.random(), contents: Data([1])))
        let next = cache()
        _ = await next.commit(try exchange(), for: .test("c"))
        await next.close()
        #expect(bodyFiles == [names[1]])
    }

    @Test("A clean-up waits for a writer that is between a body and its row, and leaves the body")
    func bodyUnderway() async throws {
        let (writer, cleaner) = (cache(), cache())
        _ = try await store(writer, "a")
        _ = try await store(cleaner, "b")
        // The clean-up of a cache just opened goes first.
        for cache in [writer, cleaner] { await cache.close() }
        let length = 100_000
        var body = try writer.database.writeBody(bytes(length), writer.warnings)
        let name = try #require(body?.name)
        #expect(throws: FolderLocked.self) { _ = try FolderLock(path + "/bodies", .alone, patience: .zero) }
        let cleaning = Task { await cleaner.cleanUp(.unused(.seconds(1000))) }
        #expect(bodyFiles == [name])
        let exchange = try exchange(body: bytes(length))
        var row = ResponseRow(
            try #require(writer.policy.draft(exchange, .test("c"), now: clock.now, .standard, .asRequested)))
        (row.bodyFile, row.bodyChecksum) = (name, BodyChecksum(of: exchange.body).value)
        let committed = row
        #expect(await writer.change { _ = try $0.insert(committed, body: []) } != nil)
        #expect(bodyFiles == [name])
        body = nil
        _ = await cleaning.value
        #expect(bodyFiles == [name])
        #expect(try await cleaner.lookup(.test("c")).response?.body == bytes(length))
    }

    @Test("A released lock is free, even if a process that is being started still has its descriptor")
    func inheritedLock() async throws {
        let (cache, bodies) = (cache(), path + "/bodies")
        _ = try await store(cache, "a")
        await cache.close()
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        try withExtendedLifetime(try FolderLock(bodies, .alone)) {
            copies = Descriptors.of(bodies).map { dup($0) }
            try #require(!copies.isEmpty)
        }
        _ = try FolderLock(bodies, .alone, patience: .zero)
    }

    @Test("Clean-up of many continues to the end, and gives their room back")
    func cleanUpMany() async throws {
        let cache = cache()
        try await withThrowingTaskGroup { group in
            for index in 0..<450 {
                group.addTask {
                    _ = await cache.commit(try self.exchange(body: self.bytes(10_000)), for: .test("\(index)"))
                }
            }
            try await group.waitForAll()
        }
        clock.advance(by: .seconds(100))
        #expect(await cache.cleanUp() == 450)
        await cache.close()
        let size =
            try FileManager.default.attributesOfItem(atPath: path + "/responses.sqlite")[.size] as? Int
        #expect(try #require(size) < 1_000_000)
    }
}
