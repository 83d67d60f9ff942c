import FleetServers
import Foundation
import Pipeline
import PipelineHTTP
import Testing

@testable import PipelineShared

@Suite("A shared cache without a usable Redis", .withRedis, .timeLimit(.minutes(5)))
struct RedisOutageTests {
    @Test("finds nothing and stores nothing while the server is gone, and warns once")
    func gone() async throws {
        let site = try SharedSite()
        let events = EventRecorder()
        let cache = site.cache(site.store(events: events))
        #expect(await cache.commit(try site.exchange(), for: .test("a")) != nil)
        site.server.kill()
        for _ in 0..<10 {
            guard case .miss(.unavailable) = try await cache.lookup(.test("a")) else { throw Unexpected() }
            #expect(await cache.commit(try site.exchange(), for: .test("a")) == nil)
            #expect(await cache.remove(.test("a")) == 0)
        }
        #expect(events.warnings.count == 1)
        #expect(events.warnings.first?.contains("Loads continue without it") == true)
    }

    @Test("reads on while the server has no memory left for writes, warns once, and stores again when it has")
    func full() async throws {
        let site = try SharedSite()
        let events = EventRecorder()
        let store = site.store(events: events)
        let cache = site.cache(store)
        #expect(await cache.commit(try site.exchange("http://example.com/a"), for: .test("a")) != nil)
        _ = try await store.scripts.connection.send("CONFIG", "SET", "maxmemory", "1")
        for _ in 0..<3 {
            #expect(await cache.commit(try site.exchange("http://example.com/b"), for: .test("b")) == nil)
        }
        guard case .fresh = try await cache.lookup(.test("a")) else { throw Unexpected() }
        #expect(events.warnings.count == 1)
        #expect(events.warnings.first?.contains("maxmemory") == true)
        // Invalidation needs no memory.
        #expect(await cache.remove(url: try #require(URL(string: "http://example.com/a"))) == 1)
        guard case .miss = try await cache.lookup(.test("a")) else { throw Unexpected() }
        _ = try await store.scripts.connection.send("CONFIG", "SET", "maxmemory", "0")
        #expect(await cache.commit(try site.exchange("http://example.com/b"), for: .test("b")) != nil)
        #expect(events.events.filter { $0 == .full || $0 == .hasRoom } == [.full, .hasRoom])
    }

    @Test("works on after a restart that lost everything, scripts included")
    func restarted() async throws {
        let site = try SharedSite()
        let store = site.store()
        let cache = site.cache(store)
        let first = try #require(await cache.commit(try site.exchange(), for: .test("a")))
        _ = try await store.scripts.connection.send("SCRIPT", "FLUSH")
        _ = try await store.scripts.connection.send("FLUSHALL")
        guard case .miss(.nothingStored) = try await cache.lookup(.test("a")) else { throw Unexpected() }
        let second = try #require(await cache.commit(try site.exchange(), for: .test("a")))
        #expect(second.generation > first.generation)
    }
}
