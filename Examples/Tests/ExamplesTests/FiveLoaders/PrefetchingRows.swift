import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("Rows of a list that prefetches", .timeLimit(.minutes(5)))
struct PrefetchingRows {
    private let site: LoaderSite

    init() throws { site = try LoaderSite() }

    private func urls(_ numbers: Range<Int>, _ prefix: String = "/") -> [URL] {
        numbers.map { site.url("\(prefix)\($0)") }
    }

    /// How far the prefetcher came.
    @discardableResult
    private func finish(_ prefetcher: Prefetcher) async -> PrefetchProgress.Element? {
        var last: PrefetchProgress.Element?
        for await progress in prefetcher.progress { last = progress }
        return last
    }

    @Test("Of 12 images that were asked for and 6 that were stopped, 6 are loaded")
    func stop() async {
        let prefetcher = Prefetcher(site.loader())
        prefetcher.start(urls(0..<12))
        prefetcher.stop(urls(6..<12))
        #expect(await finish(prefetcher)?.loaded == 6)
        #expect(site.requests == 6)
    }

    @Test("Three at once are three at once")
    func concurrency() async {
        let prefetcher = Prefetcher(site.loader(), maximumConcurrentLoads: 3)
        prefetcher.start(urls(0..<9, "/held/"))
        await site.origin.until { $0.requests.count == 3 }
        for _ in 0..<200 { await Task.yield() }
        #expect(site.requests == 3)
        site.gate.open()
        #expect(await finish(prefetcher)?.loaded == 9)
    }

    @Test("A cell gets a prefetched image from memory")
    func memory() async throws {
        let loader = site.loader()
        let prefetcher = Prefetcher(loader)
        prefetcher.start(urls(0..<3))
        await finish(prefetcher)
        for url in urls(0..<3) { #expect(try await loader.load(url).source == .memory) }
    }

    @Test("A visible load joins the prefetch, and survives its stop")
    func joins() async throws {
        let log = LogLines()
        let loader = ImageLoader(site.resources(), observers: [LoadLog(log.logger)])
        let prefetcher = Prefetcher(loader)
        prefetcher.start([site.url("/held")])
        await site.origin.until { $0.requests.count == 1 }
        let visible = loader.task(for: site.url("/held"))
        while !log.all.contains("already loading") { await Task.yield() }
        prefetcher.stop([site.url("/held")])
        site.gate.open()
        #expect(try await visible.response.image.width == 160)
        #expect(site.requests == 1)
    }

    @Test("What is stopped frees the network")
    func freed() async {
        let loader = site.loader()
        let prefetcher = Prefetcher(loader)
        prefetcher.start([site.url("/held")])
        await site.origin.until { $0.requests.count == 1 }
        prefetcher.stopAll()
        // The gate is shut: only a cancelled request ends.
        await loader.resources.flights.drain()
        #expect(loader.resources.flights.count == 0)
    }

    @Test("Of 200 rows memory keeps 100 images and 50 MB")
    func limits() async {
        let memory = MemoryCache(byteLimit: 50_000_000, countLimit: 100)
        let prefetcher = Prefetcher(ImageLoader(site.resources(memory: memory)))
        prefetcher.start(urls(0..<200))
        await finish(prefetcher)
        #expect(memory.count == 100)
        #expect(memory.byteCount <= 50_000_000)
    }

    @Test("It tells its progress, can be paused, and can go to the disk alone")
    func progress() async throws {
        let loader = site.loader()
        let prefetcher = Prefetcher(loader, destination: .disk)
        prefetcher.pause()
        prefetcher.start(urls(0..<6))
        for _ in 0..<200 { await Task.yield() }
        #expect(site.requests == 0)
        var fractions: [Double] = []
        prefetcher.resume()
        for await progress in prefetcher.progress { fractions.append(progress.fraction) }
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
        #expect(try await loader.load(site.url("/0")).source == .disk)
    }

    @Test("The log tells what was prefetched, joined, downloaded, stored, delivered and found in a cache")
    func log() async throws {
        let log = LogLines()
        let loader = ImageLoader(site.resources(), observers: [LoadLog(log.logger)])
        let prefetcher = Prefetcher(loader)
        prefetcher.start([site.url("/a")])
        await finish(prefetcher)
        _ = try await loader.load(site.url("/a"))
        #expect(
            log.all == [
                "prefetch started", "download started", "stored", "stored", "delivered", "load started", "cache hit",
                "delivered",
            ])
    }

    @Test("Memory can be trimmed, and trims itself while the system is short of it")
    func pressure() async throws {
        let memory = MemoryCache(trimsUnderPressure: true)
        let loader = ImageLoader(site.resources(memory: memory))
        for url in urls(0..<4) { _ = try await loader.load(url) }
        memory.trim(toBytes: memory.byteCount / 2)
        #expect(memory.count <= 2)
    }

    @Test("Rows differ in size and header fields")
    func perRow() async throws {
        let loader = site.loader()
        let prefetcher = Prefetcher(loader)
        let small = LoadOptions(maxPixelSize: 40, headers: [.accept: "image/webp"])
        prefetcher.start([site.url("/a")])
        prefetcher.start([site.url("/b")], options: small)
        await finish(prefetcher)
        #expect(try await loader.load(site.url("/a")).image.width == 160)
        #expect(try await loader.load(site.url("/b"), options: small).source == .memory)
        #expect(site.origin.log.requests.count { $0.headers[.accept] == "image/webp" } == 1)
    }
}
