import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 25 and 26, and what a loader adds to its pipelines.
@Suite("The loader")
struct ImageLoaderTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test("maxPixelSize bounds the image's box, keeps the aspect, and reports the native size")
    func maxPixelSize() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        let response = try await loader.load(url, options: LoadOptions(maxPixelSize: PixelSize(width: 100, height: 30)))
        #expect(response.image.size == PixelSize(width: 40, height: 30))
        #expect(response.image.nativeSize == PixelSize(width: 160, height: 120))
    }

    @Test("One line makes a loader for a local address, and the error that refuses such an address names it")
    func localAddresses() async throws {
        let url = site.origin.url("/a")
        let strict = try ImageLoader(cacheFolder: site.folder + "/strict")
        let error = await failure(.refused) { try await strict.load(url) }
        #expect(error?.message.contains("ImageLoader(addresses: .publicOnly(allowing: [\"127.0.0.1\"]))") == true)
        let loader = try ImageLoader(
            cacheFolder: site.folder + "/local", addresses: .publicOnly(allowing: ["127.0.0.1"]))
        #expect(try await loader.load(url.absoluteString).image.width == 160)
    }

    @Test("A text is read as a URL or a path, and a file of another machine is refused in each form")
    func texts() async throws {
        let loader = site.loader()
        _ = await failure(.invalidURL) { try await loader.load("") }
        _ = await failure(.unsupportedScheme) { try await loader.load("ftp://example.com/a.png") }
        let text = "file://evil.example/etc/hostname"
        _ = await failure(.invalidURL) { try await loader.load(text) }
        let url = try #require(URL(string: text))
        _ = await failure(.invalidURL) { try await loader.load(url) }
        _ = await failure(.invalidURL) { try await loader.load(url, options: LoadOptions(policy: .ignoreCache())) }
    }

    @Test("An image that fits its box is not enlarged; without a box it keeps the source's size")
    func neverEnlarges() async throws {
        let loader = site.loader()
        for box in [PixelSize(square: 5000), nil] {
            let response = try await loader.load(site.origin.url("/a"), options: LoadOptions(maxPixelSize: box))
            #expect(response.image.size == PixelSize(width: 160, height: 120))
        }
    }

    @Test("Two sizes of one URL never get each other's image, from any tier, and share the download")
    func sizes() async throws {
        let url = site.origin.url("/a")
        for loader in [site.loader(), site.loader()] {
            for _ in 0..<2 {
                for side in [40, 80, 120] {
                    let response = try await loader.load(
                        url, options: LoadOptions(maxPixelSize: PixelSize(square: side)))
                    #expect(response.image.size == PixelSize(width: side, height: side * 3 / 4))
                }
            }
        }
        #expect(site.requests == 1)
    }

    @Test("An arrangement may ask the loader for another list", .timeLimit(.minutes(5)))
    func arrangementAsks() throws {
        let outer = Lock<ImageLoader?>(nil)
        let loader = try ImageLoader(site.resources()) { policy, resources in
            if policy == .useProtocol {
                return outer.withLock { $0 }?.pipeline(for: .ignoreCache()) ?? ImagePipeline {}
            }
            return policy.pipeline(resources)
        }
        outer.withLock { $0 = loader }
        defer { outer.withLock { $0 = nil } }
        #expect(loader.pipeline(for: .useProtocol).description == loader.pipeline(for: .ignoreCache()).description)
    }

    @Test("The lists of policies that are no longer used are let go")
    func listsAreBounded() throws {
        final class Mark: Sendable {}
        struct Weak: Sendable { weak let mark: Mark? }
        let marks = Lock<[Weak]>([])
        let loader = try ImageLoader(site.resources()) { _, _ in
            let mark = Mark()
            marks.withLock { $0.append(Weak(mark: mark)) }
            return ImagePipeline {
                ClosureStage("Hold") { _ in withExtendedLifetime(mark) { .skipped } }
            }
        }
        for delay in 0..<1000 {
            _ = loader.pipeline(for: .returnCacheElseLoad(downloadDelay: .milliseconds(delay)))
        }
        #expect(marks.withLock { $0.count { $0.mark != nil } } < 100)
    }

    @Test("A second shutdown waits for the first", .timeLimit(.minutes(5)))
    func shutdownTwice() async throws {
        let (barrier, entered, ended) = (Barrier(), Counter(), Counter())
        let loader = try ImageLoader(site.resources()) { _, resources in
            ImagePipeline {
                ResolveIdentifier()
                Coalesce(resources.flights, by: .variant) {
                    ClosureStage("Work") { load in
                        // Continues though it is cancelled.
                        await withCheckedContinuation { continuation in
                            entered.increment()
                            Foundation.Thread {
                                barrier.wait()
                                continuation.resume()
                            }.start()
                        }
                        return .skipped
                    }
                }
            }
        }
        let load = loader.task(for: site.origin.url("/a"))
        await entered.reaches(1)
        let shutdowns = (0..<2).map { _ in
            Task {
                await loader.shutdown()
                ended.increment()
            }
        }
        for _ in 0..<200 { await Task.yield() }
        #expect(ended.value == 0)
        barrier.open()
        for shutdown in shutdowns { await shutdown.value }
        _ = try? await load.response
    }

    @Test("The defaults of all loads are set in one place; the default box is 300×300")
    func defaults() async throws {
        #expect(LoadOptions().maxPixelSize == PixelSize(square: 300))
        let loader = site.loader(defaults: LoadOptions(maxPixelSize: 16, policy: .ignoreCache()))
        let url = site.origin.url("/a")
        #expect(try await loader.load(url).image.width == 16)
        #expect(try await loader.load(url).source == .network)
        #expect(try await loader.load(url, options: LoadOptions()).image.width == 160)
    }

    @Test("A load tells how much has arrived, of how much, in order")
    func progress() async throws {
        let events = Lock<[LoadEvent]>([])
        let picture = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        site.origin.route("/large") { _ in .init(body: picture) }
        _ = try await site.loader().load(.url(site.origin.url("/large"))) { event in
            events.withLock { $0.append(event) }
        }
        let received = events.withLock { events in
            events.compactMap { event -> Int? in
                guard case .progress(let received, let expected) = event, expected == picture.count else { return nil }
                return received
            }
        }
        #expect(received == received.sorted())
        #expect(received.last == picture.count)
        #expect(received.count > 1)
    }

    @Test("A load that failed can be tried again, and one that succeeded reloaded")
    func retry() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.script(
            "/flaky", .init(status: 503), .init(headers: [.cacheControl: "max-age=60"], body: picture))
        let loader = site.loader()
        let url = site.origin.url("/flaky")
        let error = await #expect(throws: LoadError.self) { try await loader.load(url) }
        #expect(error?.code == .httpStatus)
        #expect(error?.httpStatus == 503)
        #expect(try await loader.load(url).source == .network)
        #expect(try await loader.load(url, options: LoadOptions(policy: .ignoreCache())).source == .network)
        #expect(site.requests == 3)
    }

    @Test("Files, data URLs and bytes in memory are loaded too, and only memory keeps them")
    func otherSources() async throws {
        let loader = site.loader()
        let path = Pictures.path("good/png-basi2c08.png")
        let bytes = try Pictures.bytes("good/png-basi2c08.png")
        let base64 = Data(bytes).base64EncodedString()
        let sources: [(ImageSource, LoadSource)] = [
            (.file(path), .file), (.bytes(bytes), .inline), (.dataURL("data:image/png;base64,\(base64)"), .inline),
        ]
        for (source, from) in sources {
            #expect(try await loader.load(source).source == from)
            #expect(try await loader.load(source).source == .memory)
        }
        #expect(try await loader.load(URL(filePath: path)).source == .memory)
        #expect(try await loader.resources.responses.statistics()?.entries == 0)
    }

    @Test("A file that changes is another source")
    func changedFile() async throws {
        let path = NSTemporaryDirectory() + "pipeline-tests-\(UUID().uuidString).img"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let loader = site.loader()
        try Data(try Pictures.bytes("good/webp-lossy.webp")).write(to: URL(filePath: path))
        #expect(try await loader.load(.file(path)).image.width == 160)
        try Data(try Pictures.bytes("good/png-basi2c08.png")).write(to: URL(filePath: path))
        #expect(try await loader.load(.file(path)).image.width == 32)
    }

    @Test("The trace tells of each stage its verdict, the time it took, the bytes and the key")
    func trace() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        let trace = try await loader.load(url).trace
        let fetch = try #require(trace.entries(of: Fetch.self).first)
        #expect(fetch.outcome == .done)
        #expect(fetch.bytes == 3848)
        #expect(fetch.fact == .answered(status: 200))
        let lookup = try #require(trace.entries(of: Lookup.self).first)
        let key = try #require(SourceKey(LoadOptions().request(for: .url(url))))
        #expect(lookup.outcome == .miss)
        #expect(lookup.key == .source(key))
        #expect(try await loader.load(url).trace.summary == "ResolveIdentifier done, MemoryLookup hit")
    }

    @Test("Its shutdown is that of its client: libcurl's thread has ended after it")
    func shutdownOfClient() async throws {
        let client = CurlClient(.local)
        let loader = ImageLoader(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000), client: Rewritten(client) { $0 }))
        await loader.shutdown()
        let error = await failure(.unreachable) {
            try await client.get(#require(URL(string: "http://127.0.0.1:1/")))
        }
        #expect(error?.message.contains("shut down") == true)
    }

    @Test("A loader that is told so gives what can be read of a file that is cut off")
    func truncatedLoads() async throws {
        let whole = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let half = Array(whole.prefix(whole.count / 2))
        var resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: "/nowhere"), client: CurlClient())
        let strict = try await #require(throws: LoadError.self) {
            try await ImageLoader(resources).load(.bytes(half))
        }
        #expect(strict.code == .undecodable)
        resources.allowTruncated = true
        resources.quality = .fast
        let response = try await ImageLoader(resources).load(.bytes(half))
        #expect(response.image.size == PixelSize(width: 300, height: 221))
    }

    @Test("Default credentials go with each load, and others get no response that they gave access to")
    func credentials() async throws {
        let url = site.origin.url("/a")
        let mine = site.loader(defaults: LoadOptions(headers: try .bearer("mine")))
        #expect(try await mine.load(url).source == .network)
        #expect(try await mine.load(url).source == .memory)
        #expect(site.origin.log.requests.map { $0.headers[.authorization] } == ["Bearer mine"])
        #expect(
            try await site.loader(defaults: LoadOptions(headers: try .bearer("theirs"))).load(url).source == .network)
        #expect(try await site.loader().load(url).source == .network)
    }
}
