import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@testable import Stages

/// BEHAVIOURS 9 to 11.
@Suite("Prefetching")
struct PrefetcherTests {
    private let site: Site
    private let gate: ScriptedOrigin.Gate
    private let recorder = ObservationRecorder()
    private let loader: ImageLoader

    init() throws {
        site = try Site()
        gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        for path in ["/held", "/held2"] {
            site.origin.route(path) { [gate] _ in
                .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate)
            }
        }
        loader = ImageLoader(site.resources(), observers: [recorder])
    }

    private func urls(_ count: Int) -> [URL] { (0..<count).map { site.origin.url("/\($0)") } }

    /// Waits until nothing is left to do; the last progress.
    @discardableResult
    private func finish(_ prefetcher: Prefetcher) async -> PrefetchProgress.Element? {
        var last: PrefetchProgress.Element?
        for await progress in prefetcher.progress { last = progress }
        return last
    }

    @Test("What was prefetched is in memory, and what is cached is not downloaded again")
    func cached() async throws {
        let prefetcher = Prefetcher(loader)
        prefetcher.start(urls(5))
        let progress = await finish(prefetcher)
        #expect(progress == .init(total: 5, loaded: 5, failed: 0))
        #expect(progress?.fraction == 1)
        for url in urls(5) { #expect(try await loader.load(url).source == .memory) }
        prefetcher.start(urls(5))
        await finish(prefetcher)
        #expect(site.requests == 5)
    }

    @Test("What became of a prefetched image is told once: used, of another size, or nothing")
    func use() async throws {
        let urls = urls(4)
        let prefetcher = Prefetcher(loader, options: LoadOptions(maxPixelSize: 80))
        prefetcher.start(urls)
        await finish(prefetcher)
        func use(_ url: URL, _ size: PixelSize?) async throws -> PrefetchUse? {
            _ = try await loader.load(url, options: LoadOptions(maxPixelSize: size))
            return recorder.observations.last?.prefetchUse
        }
        #expect(try await use(urls[0], 80) == .used)
        #expect(try await use(urls[0], 80) == nil)
        #expect(try await use(urls[1], 40) == .otherSize(80))
        #expect(try await use(urls[1], 40) == nil)
        // In memory since before its prefetch.
        prefetcher.start([urls[0]])
        await finish(prefetcher)
        #expect(try await use(urls[0], 80) == nil)
        let toDisk = Prefetcher(loader, destination: .disk)
        toDisk.start([site.origin.url("/disk")])
        await finish(toDisk)
        #expect(try await use(site.origin.url("/disk"), 40) == .used)
    }

    @Test("A download that is cancelled late is told with its bytes by the last load that waited for it")
    func wasted() async throws {
        let half = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/half") { _ in .init(body: picture).held(until: half, after: 1000) }
        let url = site.origin.url("/half")
        let (first, second) = (loader.task(for: url), loader.task(for: url))
        for task in [first, second] {
            for await event in ImageTaskEvents(task: task, cancels: false) {
                if case .progress = event { break }
            }
        }
        func wasted(_ count: Int) async -> [Int] {
            while recorder.words.count(where: { $0 == "cancelled" }) < count { await Task.yield() }
            return recorder.observations.filter { $0.words == "cancelled" }.map(\.wastedBytes)
        }
        first.cancel()
        #expect(await wasted(1) == [0])
        second.cancel()
        #expect(await wasted(2).last ?? 0 >= 1000)
        half.open()
    }

    @Test("Prefetching to the disk passes through the loader's arrangement")
    func arrangement() async throws {
        let refusing = try ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).inserting(
                ClosureStage("Refuse", produces: .empty) { load in
                    throw LoadError(.refused, subject: load.subject, "The host is on the block list.")
                }, at: .beforeOrigin)
        }
        let prefetcher = Prefetcher(refusing, destination: .disk)
        prefetcher.start(urls(1))
        #expect(await finish(prefetcher) == .init(total: 1, loaded: 0, failed: 1))
        #expect(site.requests == 0)
    }

    @Test("What is asked for already, or in flight for a visible load, is not loaded twice")
    func inFlight() async throws {
        let held = site.origin.url("/held")
        let visible = loader.task(for: held)
        await site.origin.until { $0.requests.count == 1 }
        let prefetcher = Prefetcher(loader)
        prefetcher.start([held, held])
        prefetcher.start([held])
        await site.flights.reaches(waiters: 3)
        gate.open()
        #expect(await finish(prefetcher) == .init(total: 1, loaded: 1, failed: 0))
        _ = try await visible.response
        #expect(site.requests == 1)
        #expect(recorder.words.contains("already loading"))
    }

    @Test("A visible load that joined a prefetch survives the prefetch's cancellation, and every waiter is answered")
    func survives() async throws {
        let held = site.origin.url("/held")
        let prefetcher = Prefetcher(loader)
        prefetcher.start([held])
        await site.origin.until { $0.requests.count == 1 }
        let visible = (0..<3).map { _ in loader.task(for: held) }
        await site.flights.reaches(waiters: 5)
        prefetcher.stop([held])
        gate.open()
        for task in visible { #expect(try await task.response.image.width == 160) }
        #expect(site.requests == 1)
        #expect(recorder.words.contains("cancelled"))
    }

    @Test("Work that nobody else waits for stops")
    func stops() async throws {
        let prefetcher = Prefetcher(loader)
        prefetcher.start([site.origin.url("/held"), site.origin.url("/held2")] + urls(20))
        // Neither ends while the gate is closed, so that nothing else begins.
        await site.origin.until { $0.requests.count == 2 }
        prefetcher.stopAll()
        await site.origin.until { $0.closedConnections == 2 }
        await site.flights.drain()
        #expect(site.flights.isForgotten)
        #expect(site.requests == 2)
        #expect(await finish(prefetcher) == .init(total: 0, loaded: 0, failed: 0))
    }

    @Test("No more than the allowed number run at once, in the order in which they were asked for")
    func bounded() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        let gates = try (0..<4).map { _ in try ScriptedOrigin.Gate() }
        for (number, gate) in gates.enumerated() {
            site.origin.route("/gated\(number)") { _ in .init(body: picture).held(until: gate) }
        }
        let prefetcher = Prefetcher(loader, maximumConcurrentLoads: 2)
        prefetcher.start((0..<4).map { site.origin.url("/gated\($0)") })
        await site.origin.until { $0.requests.count == 2 }
        #expect(Set(site.origin.log.requests.map(\.path)) == ["/gated0", "/gated1"])
        #expect(site.flights.count == 4)
        gates[1].open()
        await site.origin.until { $0.requests.count == 3 }
        #expect(site.origin.log.requests.last?.path == "/gated2")
        for gate in gates { gate.open() }
        #expect(await finish(prefetcher)?.loaded == 4)
    }

    @Test("Paused, nothing begins; resumed, it continues")
    func pauses() async throws {
        let prefetcher = Prefetcher(loader)
        prefetcher.pause()
        prefetcher.start(urls(3))
        #expect(prefetcher.isPaused)
        #expect(site.flights.count == 0)
        prefetcher.resume()
        #expect(await finish(prefetcher)?.loaded == 3)
    }

    @Test("A visible load that joins a prefetch raises its priority, and the prefetcher's own can be set")
    func raises() async throws {
        let seen = Lock<[LoadPriority]>([])
        let follows = Lock(false)
        let gate = Gate()
        let resources = site.resources()
        let pipeline = ImagePipeline {
            ResolveIdentifier()
            Coalesce(resources.flights, by: .variant) {
                StubStage("Fetch") { load in
                    seen.withLock { $0.append(load.priority) }
                    try await AdjustablePriority.following { priority in
                        seen.withLock { $0.append(priority) }
                    } _: {
                        follows.withLock { $0 = true }
                        try await gate.wait()
                    }
                    load.advance(to: .ready(.image(.filled(3))), from: .network)
                    return .done
                }
            }
        }
        let loader = try ImageLoader(resources) { _, _ in pipeline }
        let prefetcher = Prefetcher(loader)
        prefetcher.start(urls(1))
        while !follows.withLock(\.self) { await Task.yield() }
        prefetcher.priority = .veryLow
        // A listener that is told of two changes at once hears the last one alone.
        while !seen.withLock({ $0.contains(.veryLow) }) { await Task.yield() }
        let visible = loader.task(for: urls(1)[0])
        gate.open()
        _ = try await visible.response
        #expect(seen.withLock { $0 } == [.low, .veryLow, .normal])
    }

    @Test("To the disk alone: nothing is decoded, memory stays empty, and a visible load finds the bytes")
    func diskOnly() async throws {
        let prefetcher = Prefetcher(loader, destination: .disk)
        prefetcher.start(urls(3))
        #expect(await finish(prefetcher)?.loaded == 3)
        #expect(loader.resources.memory.count == 0)
        for url in urls(3) { #expect(try await loader.load(url).source == .disk) }
        prefetcher.start(urls(3))
        await finish(prefetcher)
        #expect(site.requests == 3)
    }

    @Test("To the disk alone, a response that isn't an image is not kept")
    func diskOnlyNoImage() async throws {
        site.origin.script("/text", .init(headers: [.cacheControl: "max-age=60"], body: "no image"))
        let prefetcher = Prefetcher(loader, destination: .disk)
        prefetcher.start([site.origin.url("/text")])
        #expect(await finish(prefetcher) == .init(total: 1, loaded: 0, failed: 1))
        #expect(try await loader.resources.responses.statistics()?.entries == 0)
    }

    @Test("Clearing the cache also cancels, what waits its turn included")
    func clearing() async throws {
        let prefetcher = Prefetcher(loader, maximumConcurrentLoads: 1)
        prefetcher.start([site.origin.url("/held")] + urls(5))
        await site.origin.until { $0.requests.count == 1 }
        await loader.removeAll()
        await finish(prefetcher)
        await site.flights.drain()
        #expect(site.requests == 1)
        #expect(loader.resources.memory.count == 0)
    }

    @Test("What is asked for after the caches were cleared is loaded, and what was asked for before is not")
    func clearingBetween() async throws {
        let prefetcher = Prefetcher(loader)
        prefetcher.pause()
        prefetcher.start([site.origin.url("/before")])
        await loader.removeAll()
        prefetcher.start([site.origin.url("/after")])
        prefetcher.resume()
        #expect(await finish(prefetcher) == .init(total: 1, loaded: 1, failed: 0))
        #expect(site.origin.log.requests.map(\.path) == ["/after"])
    }

    @Test("The limits by count and by cost are both in force")
    func limits() async throws {
        let site = try Site()
        let memory = MemoryCache(byteLimit: 50_000_000, countLimit: 100)
        var resources = site.resources()
        resources.memory = memory
        let loader = ImageLoader(resources, defaults: LoadOptions(maxPixelSize: nil))
        let prefetcher = Prefetcher(loader)
        prefetcher.start((0..<110).map { site.origin.url("/\($0)") })
        await finish(prefetcher)
        #expect(memory.count == 100)
        resources.memory = MemoryCache(byteLimit: 160 * 120 * 3 * 4, countLimit: 100)
        let bounded = ImageLoader(resources, defaults: LoadOptions(maxPixelSize: nil))
        let second = Prefetcher(bounded)
        second.start((0..<10).map { site.origin.url("/\($0)") })
        await finish(second)
        #expect(resources.memory.count == 4)
    }

    @Test("The key is the full URL unless an identifier is given")
    func key() async throws {
        let prefetcher = Prefetcher(loader)
        prefetcher.start([site.origin.url("/a?x=1"), site.origin.url("/a?x=2")])
        await finish(prefetcher)
        #expect(site.requests == 2)
        let identified = Prefetcher(loader, options: LoadOptions(identifier: "a"))
        identified.start([site.origin.url("/a?x=1")])
        identified.start([site.origin.url("/a?x=2")])
        await finish(identified)
        #expect(site.requests == 3)
    }

    @Test("Started, downloaded, stored, delivered, already there: each is told")
    func told() async throws {
        let prefetcher = Prefetcher(loader)
        prefetcher.start(urls(1))
        await finish(prefetcher)
        prefetcher.start(urls(1))
        await finish(prefetcher)
        #expect(
            recorder.wordsOfLoads == [
                ["prefetch started", "download started", "stored: disk", "stored: memory", "delivered: network"],
                ["prefetch started", "cache hit: memory", "delivered: memory"],
            ])
    }

    @Test("A prefetcher that is let go stops")
    func letGo() async throws {
        var prefetcher: Prefetcher? = Prefetcher(loader)
        prefetcher?.start([site.origin.url("/held")] + urls(5))
        await site.origin.until { log in log.requests.contains { $0.path == "/held" } }
        prefetcher = nil
        await site.origin.until { $0.closedConnections >= 1 }
        await site.flights.drain()
        #expect(site.flights.isForgotten)
    }

    @Test("Reading the progress ends with the task that reads")
    func cancelledReader() async throws {
        let prefetcher = Prefetcher(loader)
        prefetcher.start([site.origin.url("/held")])
        let reading = Task { await finish(prefetcher) }
        await site.origin.until { $0.requests.count == 1 }
        reading.cancel()
        #expect(await reading.value?.loaded ?? 0 == 0)
        prefetcher.stopAll()
    }
}
