import FoundationEssentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineHTTP
@testable import PipelineImages
@testable import Stages

@Suite("Removing stored responses")
struct HTTPCacheRemovingTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("Removing by key, by URL and of all")
    func removing() async throws {
        let cache = cache()
        _ = await cache.commit(try exchange(url: "http://example.com/a?x=1"), for: .test("a"))
        _ = await cache.commit(try exchange(url: "http://example.com/a?x=1"), for: .test("b"))
        _ = await cache.commit(try exchange(url: "http://example.com/a?x=2", body: bytes(100_000)), for: .test("c"))
        _ = await cache.commit(try exchange(url: "http://example.com/d"), for: .test("d"))
        #expect(await cache.remove(url: try #require(URL(string: "http://EXAMPLE.com/a?x=1#f"))) == 2)
        #expect(try await present(cache) == ["c", "d"])
        #expect(await cache.remove(.test("d")) == 1)
        #expect(await cache.remove(.test("d")) == 0)
        #expect(await cache.removeAll() == 1)
        #expect(try await present(cache) == [])
        #expect(try await cache.statistics()?.bytes == 0)
        #expect(bodyFiles == [])
    }

    @Test("Clean-up removes what is expired by the rules under which it was stored")
    func cleanUpExpired() async throws {
        let cache = cache()
        _ = await cache.commit(try exchange([.cacheControl: "max-age=10"]), for: .test("a"))
        _ = await cache.commit(try exchange([.cacheControl: "max-age=100"]), for: .test("b"))
        _ = await cache.commit(
            try exchange([.cacheControl: "max-age=10"]), for: .test("c"), expiry: .after(.seconds(100)))
        _ = await cache.commit(try exchange([.cacheControl: "max-age=10"]), for: .test("d"), expiry: .never)
        clock.advance(by: .seconds(50))
        #expect(await cache.cleanUp(.expired) == 1)
        #expect(try await present(cache) == ["b", "c", "d"])
        clock.advance(by: .seconds(1e9))
        #expect(await cache.cleanUp() == 2)
        #expect(try await present(cache) == ["d"])
    }

    @Test("Clean-up by last use and by creation")
    func cleanUpByTime() async throws {
        let cache = cache()
        let day = 86_400.0
        for name in ["a", "b"] { _ = await cache.commit(try exchange(), for: .test(name)) }
        clock.advance(by: .seconds(5 * day))
        _ = try await cache.lookup(.test("a"))
        _ = await cache.commit(try exchange(), for: .test("c"))
        clock.advance(by: .seconds(3 * day))
        #expect(await cache.cleanUp(.unused(.seconds(7 * day))) == 1)
        #expect(try await present(cache) == ["a", "c"])
        #expect(await cache.cleanUp(.stored(.seconds(7 * day))) == 1)
        #expect(try await present(cache) == ["c"])
        #expect(await cache.cleanUp(.stored(.seconds(7 * day))) == 0)
    }

    @Test("Clean-up of many goes on to the end, and gives their room back")
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

    @Test("What became invalid after it was asked for is not stored, also where another cache on the folder was told")
    func invalidBeforeCommit() async throws {
        let (storing, other) = (cache(), cache())
        let asked = try exchange()
        _ = await storing.commit(asked, for: .test("a"))
        clock.advance(by: .seconds(1))
        #expect(await other.remove(url: asked.url) == 1)
        #expect(await storing.commit(asked, for: .test("a")) == nil)
        #expect(try await storing.lookup(.test("a")).isMiss)
        clock.advance(by: .seconds(1))
        #expect(await storing.commit(try exchange(), for: .test("a")) != nil)
    }

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

    @Test("A URL with its scheme's own port, or without a path, is the same target")
    func sameTarget() async throws {
        let cache = cache()
        for url in ["http://example.com:80/a", "HTTP://example.com/a", "http://me@example.com/a#x"] {
            _ = await cache.commit(try exchange(url: url), for: .test(url))
        }
        clock.advance(by: .seconds(1))
        #expect(await cache.remove(url: try #require(URL(string: "http://example.com/a"))) == 3)
        _ = await cache.commit(try exchange(url: "https://example.com"), for: .test("root"))
        #expect(await cache.remove(url: try #require(URL(string: "https://example.com:443/"))) == 1)
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

    @Test("A clean-up waits for who is between a body and its row, and leaves the body")
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
        var row = writer.row(
            of: try #require(writer.policy.draft(exchange, .test("c"), now: clock.now, .standard, .asRequested)),
            .standard, .asRequested)
        (row.bodyFile, row.bodyChecksum) = (name, BodyChecksum(of: exchange.body).value)
        let committed = row
        #expect(await writer.change { _ = try $0.insert(committed, body: []) } != nil)
        #expect(bodyFiles == [name])
        body = nil
        _ = await cleaning.value
        #expect(bodyFiles == [name])
        #expect(try await cleaner.lookup(.test("c")).response?.body == bytes(length))
    }
}
