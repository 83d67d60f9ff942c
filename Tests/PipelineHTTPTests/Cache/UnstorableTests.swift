import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("A response that can't be stored replaces the earlier one all the same", .inEachStore)
struct UnstorableTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    private func exchange(version: Int, length: Int, _ request: HTTPFields = [:]) throws -> HTTPExchange {
        let fields: HTTPFields = [.cacheControl: "max-age=3600", .eTag: "\"\(version)\"", .vary: "Accept"]
        return try exchange(fields, request: request, body: bytes(length, seed: version))
    }

    @Test("A newer response that is larger than the limit leaves no older one", arguments: [100, 70_000])
    func tooLarge(length: Int) async throws {
        let cache = cache(byteLimit: 400_000)
        #expect(await cache.commit(try exchange(version: 1, length: length), for: .test()) != nil)
        #expect(await cache.commit(try exchange(version: 1, length: 100, [.accept: "b"]), for: .test()) != nil)
        clock.advance(by: .seconds(1))
        #expect(await cache.commit(try exchange(version: 2, length: 500_000), for: .test()) == nil)
        #expect(try await cache.lookup(.test()).isMiss)
        // The response to another request stays.
        #expect(try await cache.lookup(.test(), headers: [.accept: "b"]).isFresh)
        await cache.close()
        #expect(try await self.cache(byteLimit: 400_000).lookup(.test()).isMiss)
    }

    @Test("An older response that is larger than the limit removes no newer one, and is outdated")
    func tooLargeAndOlder() async throws {
        let cache = cache(byteLimit: 400_000)
        let older = try exchange(version: 1, length: 500_000)
        clock.advance(by: .seconds(1))
        #expect(await cache.commit(try exchange(version: 2, length: 100), for: .test()) != nil)
        guard
            case .outdated = await cache.keep(older, for: .test(), expiry: .standard, rules: .asRequested)
        else { throw Unexpected() }
        #expect(try await cache.lookup(.test()).isFresh)
    }

    @Test("A server error that can't be stored removes nothing")
    func serverError() async throws {
        let cache = cache(byteLimit: 400_000)
        #expect(await cache.commit(try exchange(version: 1, length: 100), for: .test()) != nil)
        clock.advance(by: .seconds(1))
        let error = try exchange(status: 503, body: bytes(500_000))
        #expect(await cache.commit(error, for: .test()) == nil)
        #expect(try await cache.lookup(.test(), headers: [:]).isFresh)
    }

    private func origin(_ versions: Counter, _ bodies: [[UInt8]]) throws -> ScriptedOrigin {
        try ScriptedOrigin { _ in
            let version = min(versions.increment(), bodies.count)
            return .init(headers: [.cacheControl: "max-age=3600"], body: bodies[version - 1])
        }
    }

    @Test("After a reload by a client the next program doesn't get the older version")
    func client() async throws {
        let origin = try origin(Counter(), [Array("old".utf8), bytes(500_000)])
        func client() -> CachingClient {
            CachingClient(cache: cache(byteLimit: 400_000), client: CurlClient(.local))
        }
        let url = origin.url("/a")
        _ = try await client().send(CachingRequest(url: url))
        #expect(try await client().send(CachingRequest(url: url)).use == .hit)
        clock.advance(by: .seconds(1))
        _ = try await client().send(CachingRequest(url: url, mode: .reload))
        #expect(try await client().send(CachingRequest(url: url)).body.count == 500_000)
    }
}

@Suite("A response that a full disk can't hold")
struct FullDiskTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("replaces the earlier one all the same, and so does a confirmation")
    func full() async throws {
        let cache = cache()
        _ = try await store(cache, "a", length: 1000)
        let confirmed = try #require(try await store(cache, "b", length: 1000))
        _ = cache.database.write { _ = try $0.database.first("PRAGMA max_page_count = 1") { $0.integer(0) } }
        for index in 0..<40 { _ = try await store(cache, "\(index)", length: 60_000) }
        clock.advance(by: .seconds(1))
        #expect(try await store(cache, "a", length: 60_001) == nil)
        #expect(try await cache.lookup(.test("a")).isMiss)
        let long: HTTPFields = [.cacheControl: "no-cache", .server: String(repeating: "x", count: 100_000)]
        let update = try await cache.freshen(
            confirmed, with: long, requestTime: clock.now, responseTime: clock.now)
        #expect(update == nil)
        #expect(try await cache.lookup(.test("b")).isMiss)
    }

    @Test("is forgotten at least by this program if the disk can't even be changed")
    func unchangeable() async throws {
        let cache = cache()
        _ = try await store(cache, "a")
        _ = try await store(cache, "b")
        let confirmed = try #require(try await store(cache, "c"))
        _ = cache.database.write { try $0.database.execute("PRAGMA query_only = ON") }
        clock.advance(by: .seconds(1))
        #expect(try await store(cache, "a") == nil)
        #expect(try await cache.lookup(.test("a")).isMiss)
        // Nor what its confirmation says must not be stored.
        let noStore: HTTPFields = [.cacheControl: "no-store"]
        _ = try await cache.freshen(confirmed, with: noStore, requestTime: clock.now, responseTime: clock.now)
        #expect(try await cache.lookup(.test("c")).isMiss)
        #expect(try await cache.lookup(.test("b")).isFresh)
        clock.advance(by: .seconds(1))
        await cache.close()
        #expect(try await store(cache, "a") != nil)
        #expect(try await cache.lookup(.test("a")).isFresh)
    }
}
