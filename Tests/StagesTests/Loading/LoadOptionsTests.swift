import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("How one load differs from the others")
struct LoadOptionsTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test("Each load says how many frames it wants, and never gets another number")
    func frames() async throws {
        let animation = try Pictures.bytes("good/gif-animated.gif")
        site.origin.route("/animation") { _ in .init(headers: [.cacheControl: "max-age=60"], body: animation) }
        let url = site.origin.url("/animation")
        for loader in [site.loader(), site.loader()] {
            for _ in 0..<2 {
                #expect(try await loader.load(url).image.frames.count == 1)
                #expect(try await loader.load(url, options: LoadOptions(frames: 2)).image.frames.count == 2)
                #expect(try await loader.load(url, options: LoadOptions(frames: 0)).image.frames.count == 1)
                #expect(try await loader.load(url, options: LoadOptions(frames: .max)).image.isAnimated)
            }
        }
        #expect(site.requests == 1)
    }

    @Test(
        "A box without pixels is an error, and nothing is asked",
        arguments: [(0, 0), (-5, 10), (10, -5), (-1, 0), (.min, .max)])
    func noBox(width: Int, height: Int) async throws {
        let options = LoadOptions(maxPixelSize: PixelSize(width: width, height: height))
        let loader = site.loader()
        let url = site.origin.url("/a")
        _ = await failure(.invalidSize) { try await loader.load(url, options: options) }
        _ = await failure(.invalidSize) { try await loader.load(url.absoluteString, options: options) }
        _ = await failure(.invalidSize) {
            try await loader.load(options.request(for: .url(url)), through: loader.pipeline(for: .offline))
        }
        loader.defaults = options
        _ = await failure(.invalidSize) { try await loader.load(url) }
        let prefetcher = Prefetcher(loader, options: options)
        prefetcher.start([url])
        var last: PrefetchProgress.Element?
        for await progress in prefetcher.progress { last = progress }
        #expect(last?.failed == 1)
        _ = await failure(.invalidSize) {
            try await DecodedImage(
                decoding: try Pictures.bytes("good/gif-animated.gif"), maxPixelSize: options.maxPixelSize)
        }
        #expect(site.requests == 0)
    }

    @Test("A side of 0 is of any length, and no other size's result is found for it")
    func anyLength() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        func size(_ width: Int, _ height: Int) async throws -> (PixelSize, LoadSource) {
            let box = PixelSize(width: width, height: height)
            let response = try await loader.load(url, options: LoadOptions(maxPixelSize: box))
            return (response.image.size, response.source)
        }
        let whole = try await loader.load(url, options: LoadOptions(maxPixelSize: nil)).image.size
        let expected = whole.fitted(into: PixelSize(width: 40, height: 100_000))
        #expect(expected.width == 40)
        #expect(try await size(40, 0) == (expected, .disk))
        #expect(try await size(40, 0) == (expected, .memory))
        #expect(try await size(40, .max) == (expected, .memory))
        #expect(try await size(40, 1) == (whole.fitted(into: PixelSize(width: 40, height: 1)), .disk))
        #expect(try await size(0, 20).0.height == 20)
    }

    @Test("The defaults of a loader can change; loads that begin later go by the new ones")
    func defaults() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        #expect(try await loader.load(url).image.width == 160)
        loader.defaults.maxPixelSize = 40
        #expect(try await loader.load(url).image.width == 40)
        loader.defaults.policy = .returnCacheDontLoad()
        let error = await #expect(throws: LoadError.self) { try await loader.load(site.origin.url("/b")) }
        #expect(error?.code == .notCached)
        loader.defaults = LoadOptions()
        #expect(try await loader.load(site.origin.url("/b")).image.width == 160)
    }

    @Test("Prefetched rows differ in size and header fields")
    func prefetcher() async throws {
        let loader = site.loader()
        let prefetcher = Prefetcher(loader, options: LoadOptions(maxPixelSize: 80))
        let small = LoadOptions(maxPixelSize: 40, headers: [.accept: "image/webp"])
        prefetcher.start([site.origin.url("/a")])
        prefetcher.start([site.origin.url("/b")], options: small)
        for await _ in prefetcher.progress {}
        let a = try await loader.load(site.origin.url("/a"), options: LoadOptions(maxPixelSize: 80))
        let b = try await loader.load(site.origin.url("/b"), options: small)
        #expect([a.source, b.source] == [.memory, .memory])
        #expect(a.image.width == 80)
        #expect(b.image.width == 40)
        #expect(site.origin.log.requests.map { $0.headers[.accept] }.contains("image/webp"))
    }

    @Test("A loader's observers see a list that ends in bytes, and what the loader refuses stays refused")
    func through() async throws {
        let recorder = ObservationRecorder()
        var resources = site.resources()
        resources.allowedSources = .remote
        let loader = ImageLoader(resources, observers: [recorder])
        let list = loader.pipeline(for: .standard).encoding(Encode(.png), keptIn: resources.responses)
        let response = try await loader.load(ImageRequest(site.origin.url("/a"), maxPixelSize: 40), through: list)
        #expect(response.encoded?.size?.width == 40)
        #expect(response.mediaType == "image/png")
        guard case .delivered? = recorder.observations.last?.event else {
            Issue.record("The last thing told is not the response.")
            return
        }
        let error = await #expect(throws: LoadError.self) {
            try await loader.load(ImageRequest(.file("/etc/passwd")), through: list)
        }
        #expect(error?.code == .refused)
    }

    @Test("A caller may have kept what says no-store: with a lifetime of its own, and a cache that is told so")
    func noStore() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/secret") { _ in .init(headers: [.cacheControl: "no-store"], body: picture) }
        func sources(_ overrules: Bool, _ expiry: Expiry, _ policy: CachePolicy = .standard) async throws
            -> [LoadSource]
        {
            let responses = HTTPCache(inMemory: 10_000_000, overrulesNoStore: overrules, clock: site.clock)
            let url = site.origin.url("/secret")
            let options = LoadOptions(policy: policy, expiry: expiry)
            var sources: [LoadSource] = []
            for _ in 0..<2 {
                let resources = PipelineResources(
                    memory: MemoryCache(), responses: responses, client: site.client)
                sources.append(try await ImageLoader(resources).load(url, options: options).source)
            }
            return sources
        }
        #expect(try await sources(true, .after(.seconds(60))) == [.network, .disk])
        #expect(try await sources(true, .never) == [.network, .disk])
        #expect(try await sources(false, .never) == [.network, .network])
        #expect(try await sources(true, .standard) == [.network, .network])
        #expect(try await sources(true, .never, .useProtocol) == [.network, .network])
    }

    @Test("All of a partition can be removed from both caches, and nothing else is")
    func partition() async throws {
        let loader = site.loader()
        func load(_ partition: String?, _ path: String) async throws -> LoadSource {
            try await loader.load(site.origin.url(path), options: LoadOptions(partition: partition)).source
        }
        site.origin.route("/moved") { _ in
            .init(status: 301, headers: [.location: "/b", .cacheControl: "max-age=60"])
        }
        for partition in ["alice", "bob", nil] {
            for path in ["/a", "/moved"] { #expect(try await load(partition, path) == .network) }
        }
        await loader.remove(partition: "alice")
        #expect(try await loader.resources.responses.statistics()?.entries == 6)
        for partition in ["bob", nil] {
            for path in ["/a", "/moved"] { #expect(try await load(partition, path) == .memory) }
        }
        for path in ["/a", "/moved"] { #expect(try await load("alice", path) == .network) }
    }
}
