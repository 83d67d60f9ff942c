import FleetServers
import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("Responses that are kept in memory alone")
struct NoFolderTests {
    @Test("A program that loads images makes no folder and no file")
    func nothingIsMade() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        let origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture) }
        let folder = try TemporaryFolder()
        let homes = ["HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR"].map { "\($0)=\(folder.path)" }
        let program = [CacheTrials.executable.path, "load-in-memory", origin.url("/a").absoluteString]
        let (status, said) = try await Process.run(
            URL(filePath: "/usr/bin/env"), ["-C", folder.path] + homes + program)
        #expect((status, said) == (0, "network disk 1\n"))
        #expect(TemporaryFolder.names(folder.path) == [])
    }

    @Test("Looking through them finds nothing wrong, and there is nothing to repair")
    func verify() async throws {
        let cache = HTTPCache(inMemory: 1_000_000)
        #expect(cache.folder == nil)
        #expect(try await cache.verify().isSound)
        #expect(try await cache.repair().isSound)
        await cache.close()
    }

    @Test("Beyond the bound the least recently used go first, and what is larger than all of it isn't kept")
    func bound() async throws {
        let clock = ManualClock()
        let cache = HTTPCache(inMemory: 100_000, clock: clock)
        for name in ["a", "b", "c"] {
            clock.advance(by: .seconds(1))
            _ = await cache.commit(
                try .test(body: [UInt8](repeating: 1, count: 30_000), at: clock.now), for: .test(name))
        }
        clock.advance(by: .seconds(1))
        #expect(try await cache.lookup(.test("a")).isFresh)
        _ = await cache.commit(try .test(body: [UInt8](repeating: 1, count: 30_000), at: clock.now), for: .test("d"))
        #expect(try await cache.lookup(.test("a")).isFresh)
        #expect(try await cache.lookup(.test("b")).response == nil)
        #expect(try await cache.lookup(.test("d")).isFresh)
        let large = try HTTPExchange.test(body: [UInt8](repeating: 1, count: 200_000), at: clock.now)
        #expect(await cache.commit(large, for: .test("e")) == nil)
        #expect(try await cache.statistics()?.entries ?? 0 >= 2)
        #expect(try await cache.statistics()?.bytes ?? .max <= 100_000)
    }

    @Test("A stored response that a store writes down as JSON comes back as it was")
    func codable() async throws {
        let clock = ManualClock()
        let cache = HTTPCache(inMemory: 1_000_000, clock: clock)
        let fields: HTTPFields = [.vary: "Accept", .eTag: "\"1\"", .cacheControl: "max-age=60"]
        let stored = try #require(
            await cache.commit(try .test(request: [.accept: "image/webp"], fields, at: clock.now), for: .test()))
        let again = try JSONDecoder().decode(StoredResponse.self, from: JSONEncoder().encode(stored))
        #expect(again.key == stored.key)
        #expect(again.headers == stored.headers)
        #expect(again.body == stored.body)
        #expect(again.validator == "1")
        #expect(try JSONEncoder.sorted.encode(again) == JSONEncoder.sorted.encode(stored))
    }
}

extension JSONEncoder {
    fileprivate static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
