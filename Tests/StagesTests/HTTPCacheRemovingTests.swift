import FoundationEssentials
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

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

    @Test("Files that a dead process left go with the next clean-up, others stay")
    func orphans() async throws {
        let cache = cache()
        _ = await cache.commit(try exchange(body: bytes(100_000)), for: .test("a"))
        let bodies = path + "/bodies"
        let before = bodyFiles
        for name in ["orphan", "unfinished.new"] {
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
        for name in ["orphan", "unfinished.new"] {
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
        var body = writer.database.writeBody(bytes(length), writer.warnings)
        let name = try #require(body?.name)
        let cleaning = Task { await cleaner.cleanUp(.unused(.seconds(1000))) }
        while try !isWaitedFor(path + "/bodies") { await Task.yield() }
        #expect(bodyFiles == [name])
        let exchange = try exchange(body: bytes(length))
        var row = writer.row(
            of: try #require(writer.policy.draft(exchange, .test("c"), now: clock.now, .standard, .asRequested)),
            BodyChecksum(of: exchange.body), .standard,
            .asRequested)
        row.bodyFile = name
        let committed = row
        #expect(await writer.change { _ = try $0.insert(committed, body: []) } != nil)
        #expect(bodyFiles == [name])
        body = nil
        _ = await cleaning.value
        #expect(bodyFiles == [name])
        #expect(try await cleaner.lookup(.test("c")).response?.body == bytes(length))
    }

    /// Whether somebody waits for the lock of a folder, by what the kernel says.
    private func isWaitedFor(_ path: String) throws -> Bool {
        let number = try #require(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int)
        let locks = try #require(FileManager.default.contents(atPath: "/proc/locks"))
        return String(decoding: locks, as: UTF8.self).split(separator: "\n").contains {
            $0.contains("->") && $0.contains(":\(number) ")
        }
    }
}
