import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP
@testable import Stages

@Suite("Generations of two stores never collide", .inEachStore, .timeLimit(.minutes(5)))
struct GenerationTests: CacheSuite {
    let folder: TemporaryFolder
    let clock = ManualClock(now: Date(timeIntervalSince1970: 1_772_366_400))
    let log = LogRecorder()

    init() throws { folder = try TemporaryFolder() }

    @Test("also if they were made at the same moment")
    func disjoint() async throws {
        var generations: Set<Int64> = []
        for number in 0..<8 {
            let cache = cache(folder.path + "/\(number)")
            for name in ["a", "b", "c"] {
                generations.insert(try #require(try await store(cache, name)).generation)
            }
        }
        #expect(generations.count == 24)
    }

    @Test("also if both lost their count of it and were repaired")
    func repaired() async throws {
        var generations: Set<Int64> = []
        for number in 0..<8 {
            let folder = "\(folder.path)/repaired-\(number)"
            let damaged = HTTPCache(folder: folder, clock: clock)
            _ = try await store(damaged, "a")
            await damaged.close()
            let database = try SQLiteDatabase(path: folder + "/responses.sqlite", readOnly: false)
            try database.execute("DELETE FROM responses; DELETE FROM totals")
            let cache = HTTPCache(folder: folder, clock: clock)
            _ = try await cache.repair()
            generations.insert(try #require(try await store(cache, "a")).generation)
            await cache.close()
        }
        #expect(generations.count == 8)
    }

    @Test("An image in memory isn't taken for one of a cache that has replaced its own")
    func replacedCache() async throws {
        let site = try Site([.eTag: "\"1\"", .cacheControl: "max-age=60"])
        let memory = MemoryCache()
        func load(_ name: String) async throws -> LoadResponse {
            let cache = cache("\(site.folder)-\(name)")
            let pipeline = ImagePipeline(clock: clock) {
                ResolveIdentifier()
                MemoryLookup(memory)
                Lookup(cache)
                StaleFirst {
                    Fetch(site.client)
                    Decode()
                    Downscale()
                }
                Store(memory, cache)
            }
            return try await pipeline.load(ImageRequest(site.origin.url("/a")))
        }
        #expect(try await load("first").size == PixelSize(width: 160, height: 120))
        // The second cache has another version, which the origin confirms.
        let newer = Picture.png(PixelSize(width: 5, height: 3))
        site.origin.route("/a") { request in
            let isKnown = request.headers[.ifNoneMatch] == "\"2\""
            let headers: HTTPFields = [.eTag: "\"2\"", .cacheControl: "max-age=60"]
            return isKnown ? .init(status: 304, headers: headers) : .init(headers: headers, body: newer)
        }
        let request = ImageRequest(site.origin.url("/a"))
        let exchange = try HTTPExchange.test(
            site.origin.url("/a").absoluteString, [.eTag: "\"2\"", .cacheControl: "max-age=60"], body: newer,
            at: clock.now)
        _ = await cache("\(site.folder)-second").commit(exchange, for: try #require(SourceKey(request)))
        clock.advance(by: .seconds(100))
        #expect(try await load("second").size == PixelSize(width: 5, height: 3))
        for name in ["first", "second"] { TemporaryFolder.remove("\(site.folder)-\(name)") }
    }

    @Test("Two caches over the same flights are refreshed separately")
    func refreshes() async throws {
        let flights = Flights()
        let (gate, begun) = (Gate(), Counter())
        for name in ["first", "second"] {
            let stored = try #require(try await store(cache(folder.path + "/" + name)))
            flights.refresh(stored.generation) {
                begun.increment()
                try? await gate.wait()
            }
        }
        await begun.reaches(2)
        gate.open()
        await flights.drain()
    }
}
