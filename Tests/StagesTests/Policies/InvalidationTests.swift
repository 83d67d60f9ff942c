import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// RFC 9111 section 4.4, for images: what is invalid on disk is so in memory.
@Suite("Invalidation of images", .inEachStore)
struct InvalidationTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test(
        "4.4: an unsafe request by the caching client makes the image invalid in memory too, whatever its size and key")
    func unsafeRequest() async throws {
        let resources = site.resources()
        let loader = ImageLoader(resources)
        let url = site.origin.url("/a")
        let named = LoadOptions(maxPixelSize: PixelSize(square: 20), identifier: "picture 7")
        _ = try await loader.load(url)
        _ = try await loader.load(url, options: named)
        _ = try await loader.load(site.origin.url("/b"))

        let client = CachingClient(cache: resources.responses, client: resources.client)
        site.clock.advance(by: .seconds(1))
        _ = try await client.send(CachingRequest(method: .put, url: url))

        #expect(try await loader.load(url).source == .network)
        #expect(try await loader.load(url, options: named).source == .network)
        #expect(try await loader.load(site.origin.url("/b")).source == .memory)
    }

    @Test("invalidate(url) makes it invalid in every memory cache whose Store is given the same responses")
    func invalidate() async throws {
        let resources = site.resources()
        var other = resources
        other.memory = MemoryCache()
        let loaders = [ImageLoader(resources), ImageLoader(other)]
        let url = site.origin.url("/a")
        for loader in loaders { _ = try await loader.load(url) }
        site.clock.advance(by: .seconds(1))
        #expect(await CachingClient(cache: resources.responses, client: resources.client).invalidate(url) == 1)
        #expect(try await loaders[0].load(url).source == .network)
        #expect(try await loaders[1].load(url).source == .disk)
    }

    @Test("Every size of a picture leaves memory once another picture is stored in its place")
    func replaced() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        let small = LoadOptions(maxPixelSize: PixelSize(square: 20))
        let reload = LoadOptions(maxPixelSize: PixelSize(square: 20), headers: [.cacheControl: "no-cache"])
        _ = try await loader.load(url)
        _ = try await loader.load(url, options: small)
        #expect(try await loader.load(url).source == .memory)
        let other = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        site.origin.route("/a") { _ in .init(headers: [.cacheControl: "max-age=60", .eTag: "\"2\""], body: other) }
        site.clock.advance(by: .seconds(1))
        #expect(try await loader.load(url, options: reload).source == .network)
        #expect(try await loader.load(url).source == .disk)
        #expect(try await loader.load(url, options: small).source == .disk)
        #expect(site.requests == 2)
    }

    @Test("By the tag of a load that found the image, it removes every size of it, from disk and memory")
    func laterTag() async throws {
        let resources = site.resources()
        let loader = ImageLoader(resources)
        let url = site.origin.url("/a")
        func load(_ side: Int, _ tags: Set<String>) async throws -> LoadSource {
            try await loader.load(url, options: LoadOptions(maxPixelSize: PixelSize(square: side), tags: tags)).source
        }
        #expect(try await load(20, ["first"]) == .network)
        #expect(try await load(30, []) == .disk)
        #expect(try await load(40, ["found"]) == .disk)
        #expect(try await load(30, ["in memory"]) == .disk)
        #expect(try await load(30, ["in memory", "found", "first"]) == .memory)
        for (count, tag) in ["found", "first", "in memory"].enumerated() {
            site.clock.advance(by: .seconds(1))
            #expect(await resources.responses.remove(tag: tag) == (count == 0 ? 1 : 0))
            #expect(resources.memory.count == 0)
        }
        #expect(try await load(30, []) == .network)
    }

    @Test("An image that is given a tag whose removal it is older than is removed as well")
    func removedTag() async throws {
        let resources = site.resources()
        let loader = ImageLoader(resources)
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        site.clock.advance(by: .seconds(1))
        await resources.responses.remove(tag: "late")
        #expect(try await loader.load(url, options: LoadOptions(tags: ["late"])).source == .disk)
        #expect(resources.memory.count == 0)
        #expect(try await loader.load(url, options: LoadOptions(tags: ["late"])).source == .network)
        #expect(try await loader.load(url, options: LoadOptions(tags: ["late"])).source == .memory)
    }

    @Test("An image that was asked for before and arrives after it is given, and kept nowhere")
    func underWay() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/slow") { _ in
            .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate)
        }
        let resources = site.resources()
        let loader = ImageLoader(resources)
        let url = site.origin.url("/slow")
        async let first = loader.load(url).source
        await site.origin.until { $0.requests.count == 1 }
        site.clock.advance(by: .seconds(1))
        await resources.responses.remove(url: url)
        gate.open()
        #expect(try await first == .network)
        #expect(try await loader.load(url).source == .network)
        #expect(try await loader.load(url).source == .memory)
    }

    @Test("Removing a URL removes what came from it, under whatever identifier, partition or credentials")
    func removeURL() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        let kinds = [
            LoadOptions(), LoadOptions(identifier: "7"), LoadOptions(partition: "tenant"),
            LoadOptions(headers: [.authorization: "Basic QQ=="]),
        ]
        for options in kinds { _ = try await loader.load(url, options: options) }
        _ = try await loader.load(site.origin.url("/b"))
        site.clock.advance(by: .seconds(1))
        await loader.remove(url)
        for options in kinds { #expect(try await loader.load(url, options: options).source == .network) }
        #expect(try await loader.load(site.origin.url("/b")).source == .memory)
    }

    @Test("Removing a URL of one partition leaves the others")
    func removePartition() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        _ = try await loader.load(url, options: LoadOptions(partition: "tenant"))
        await loader.remove(url, partition: "tenant")
        #expect(try await loader.load(url).source == .memory)
        #expect(try await loader.load(url, options: LoadOptions(partition: "tenant")).source == .network)
    }

    @Test("Removing a file removes the images of all its states")
    func removeFile() async throws {
        let resources = site.resources()
        let loader = ImageLoader(resources)
        let folder = try TemporaryFolder()
        let url = URL(filePath: folder.path + "/a file.png")
        for name in ["good/png-basi2c08.png", "good/webp-lossy.webp"] {
            try Data(Pictures.bytes(name)).write(to: url)
            _ = try await loader.load(url)
            _ = try await loader.load(url, options: LoadOptions(maxPixelSize: 8))
            _ = try await loader.load(url, options: LoadOptions(identifier: name))
        }
        #expect(resources.memory.count == 6)
        await loader.remove(url)
        #expect(resources.memory.count == 0)
        #expect(try await loader.load(url).source == .file)
    }

    @Test("After a reload whose response is too large to be stored, the next program doesn't get the older version")
    func unstorable() async throws {
        let small = Picture.png(PixelSize(width: 4, height: 3))
        let large = Picture.png(PixelSize(width: 5, height: 3)) + [UInt8](repeating: 1, count: 500_000)
        let versions = Counter()
        let origin = try ScriptedOrigin { _ in
            .init(headers: [.cacheControl: "max-age=3600"], body: versions.increment() == 1 ? small : large)
        }
        func pipeline(_ policy: CachePolicy) -> ImagePipeline {
            let responses = HTTPCache.test(site.folder, byteLimit: 400_000, clock: site.clock)
            return policy.pipeline(
                PipelineResources(memory: MemoryCache(), responses: responses, client: site.client))
        }
        let request = ImageRequest(origin.url("/a"))
        _ = try await pipeline(.standard).load(request)
        #expect(try await pipeline(.standard).load(request).source == .disk)
        site.clock.advance(by: .seconds(1))
        _ = try await pipeline(.ignoreCache()).load(request)
        let again = try await pipeline(.standard).load(request)
        #expect(again.source == .network)
        #expect(again.image?.size == PixelSize(width: 5, height: 3))
    }
}
