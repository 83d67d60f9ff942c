import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 20, 24 and, of the last list, what is about keys and time.
@Suite("Identity and expiry", .inEachStore)
struct IdentityAndExpiryTests {
    private let site: Site

    init() throws { site = try Site() }

    @Test("An identifier replaces the URL as the key in every tier: a signed URL is one image, whatever its token")
    func identifier() async throws {
        let resources = site.resources()
        func request(_ token: String) -> ImageRequest {
            ImageRequest(site.origin.url("/a?token=\(token)"), identifier: "picture 7")
        }
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        #expect(try await pipeline.load(request("1")).source == .network)
        #expect(try await pipeline.load(request("2")).source == .memory)
        #expect(try await ImagePipeline.returnCacheElseLoad(site.resources()).load(request("3")).source == .disk)
        site.clock.advance(by: .seconds(61))
        #expect(try await pipeline.load(request("4")).source == .revalidated)
        #expect(site.origin.log.requests.map(\.target) == ["/a?token=1", "/a?token=4"])
    }

    @Test("Removal by identifier, by URL and of all reaches both tiers and every size")
    func removal() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        func sources(_ options: LoadOptions) async throws -> [LoadSource] {
            try await [loader.load(url, options: options).source, site.loader().load(url, options: options).source]
        }
        let byIdentifier = LoadOptions(identifier: "x")
        for size in [PixelSize(square: 50), PixelSize(square: 100)] {
            var options = byIdentifier
            options.maxPixelSize = size
            _ = try await loader.load(url, options: options)
        }
        _ = try await loader.load(url)
        #expect(site.requests == 2)

        await loader.remove(identifier: "x")
        #expect(try await loader.load(url).source == .memory)
        #expect(try await sources(byIdentifier) == [.network, .disk])

        site.clock.advance(by: .seconds(1))
        await loader.remove(url)
        #expect(try await sources(byIdentifier) == [.network, .disk])
        #expect(try await sources(LoadOptions()) == [.network, .disk])

        await loader.removeAll()
        #expect(try await sources(byIdentifier) == [.network, .disk])
        #expect(try await sources(LoadOptions()) == [.network, .disk])
    }

    @Test("Clearing the caches cancels the loads under way, and nothing is stored afterwards")
    func clearingCancels() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/slow") { _ in
            .init(headers: [.cacheControl: "max-age=60"], body: picture).held(until: gate)
        }
        let loader = site.loader()
        let url = site.origin.url("/slow")
        let load = Task { try await loader.load(url) }
        await site.origin.until { $0.requests.count == 1 }
        await loader.removeAll()
        await #expect(throws: CancellationError.self) { try await load.value }
        gate.open()
        #expect(loader.resources.memory.count == 0)
        await #expect(throws: LoadError.self) {
            try await loader.load(url, options: LoadOptions(policy: .returnCacheDontLoad()))
        }
    }

    @Test("expireAfter is a lifetime fixed when the image is stored, checked on every lookup in every tier")
    func expireAfter() async throws {
        let url = site.origin.url("/a")
        let loader = site.loader()
        let options = LoadOptions(expiry: .after(.seconds(3600)))
        _ = try await loader.load(url, options: options)
        site.clock.advance(by: .seconds(3599))
        #expect(try await loader.load(url, options: options).source == .memory)
        #expect(try await site.loader().load(url, options: options).source == .disk)
        site.clock.advance(by: .seconds(1))
        // Reading it has not made it younger.
        #expect(try await site.loader().load(url, options: options).source == .revalidated)
        #expect(try await loader.load(url, options: options).source != .memory)
    }

    @Test("A reader may shorten the lifetime that was fixed, never lengthen it")
    func readerShortens() async throws {
        let url = site.origin.url("/a")
        _ = try await site.loader().load(url, options: LoadOptions(expiry: .after(.seconds(100))))
        site.clock.advance(by: .seconds(50))
        let shorter = LoadOptions(expiry: .after(.seconds(40)))
        #expect(try await site.loader().load(url, options: shorter).source == .revalidated)
        // The confirmation fixed 40 seconds again; a longer wish does not change them.
        site.clock.advance(by: .seconds(41))
        let longer = LoadOptions(policy: .returnCacheDontLoad(), expiry: .after(.seconds(9000)))
        await #expect(throws: LoadError.self) { try await site.loader().load(url, options: longer) }
    }

    @Test("Where the server says nothing, an image is fresh for 24 hours, or as long as the caller says")
    func otherwise() async throws {
        let site = try Site([.eTag: "\"1\""])
        let url = site.origin.url("/a")
        _ = try await site.loader().load(url)
        site.clock.advance(by: .seconds(86_399))
        #expect(try await site.loader().load(url).source == .disk)
        site.clock.advance(by: .seconds(1))
        #expect(try await site.loader().load(url).source == .revalidated)
        let always = LoadOptions(expiry: .server(otherwise: .zero))
        #expect(try await site.loader().load(url, options: always).source == .revalidated)
    }

    @Test("With expiry never, what is stored is served whatever its age")
    func never() async throws {
        let url = site.origin.url("/a")
        let loader = site.loader(defaults: LoadOptions(expiry: .never))
        _ = try await loader.load(url)
        site.clock.advance(by: .seconds(10 * 365 * 86_400))
        #expect(try await loader.load(url).source == .memory)
        #expect(try await site.loader(defaults: LoadOptions(expiry: .never)).load(url).source == .disk)
    }

    @Test("cleanUp removes what has expired, in memory and on disk, and keeps the rest")
    func cleanUp() async throws {
        let loader = site.loader()
        let options = LoadOptions(expiry: .after(.seconds(100)))
        _ = try await loader.load(site.origin.url("/old"), options: options)
        site.clock.advance(by: .seconds(60))
        _ = try await loader.load(site.origin.url("/new"), options: options)
        site.clock.advance(by: .seconds(50))
        await loader.cleanUp()
        #expect(loader.resources.memory.count == 1)
        #expect(try await loader.resources.responses.statistics()?.entries == 1)
        #expect(try await loader.load(site.origin.url("/new"), options: options).source == .memory)
    }

    @Test("no-store reaches neither disk nor memory, whatever the expiry")
    func noStore() async throws {
        let site = try Site([.cacheControl: "no-store"])
        let loader = site.loader(defaults: LoadOptions(expiry: .after(.seconds(3600))))
        for _ in 0..<2 { #expect(try await loader.load(site.origin.url("/a")).source == .network) }
        #expect(loader.resources.memory.count == 0)
        #expect(try await loader.resources.responses.statistics()?.entries == 0)
    }

    @Test("A changed image on the server is seen as soon as the stored one is past its freshness")
    func changedImage() async throws {
        let (old, new) = (try Pictures.bytes("good/webp-lossy.webp"), try Pictures.bytes("good/png-basi2c08.png"))
        site.origin.script(
            "/changing", .init(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: old),
            .init(headers: [.eTag: "\"2\"", .cacheControl: "max-age=60"], body: new))
        let loader = site.loader()
        let url = site.origin.url("/changing")
        #expect(try await loader.load(url).image.width == 160)
        site.clock.advance(by: .seconds(59))
        #expect(try await loader.load(url).image.width == 160)
        site.clock.advance(by: .seconds(1))
        let changed = try await loader.load(url)
        #expect(changed.image.width == 32)
        #expect(changed.source == .network)
        #expect(try await site.loader().load(url).image.width == 32)
    }

    @Test(
        "URLs that differ in host, path or query, and requests that differ in Authorization, Accept or partition, never share"
    )
    func neverShare() async throws {
        let loader = site.loader()
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        let others = [
            (site.origin.url("/a", host: "localhost"), LoadOptions()), (site.origin.url("/A"), LoadOptions()),
            (site.origin.url("/a?x=1"), LoadOptions()), (site.origin.url("/a?x=2"), LoadOptions()),
            (url, LoadOptions(headers: [.authorization: "Basic YTpi"])),
            (url, LoadOptions(headers: [.authorization: "Basic YTpj"])), (url, LoadOptions(partition: "tenant")),
        ]
        for (index, (url, options)) in others.enumerated() {
            #expect(try await loader.load(url, options: options).source == .network)
            #expect(site.requests == index + 2)
            #expect(try await loader.load(url, options: options).source == .memory)
        }
        // Without Vary, the response's bytes are the same for every Accept; only memory and flights keep them apart.
        #expect(try await loader.load(url, options: LoadOptions(headers: [.accept: "image/webp"])).source == .disk)
    }
}
