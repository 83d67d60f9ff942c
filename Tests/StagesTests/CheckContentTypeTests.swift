import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// BEHAVIOURS 17.
@Suite("What the origin declares")
struct CheckContentTypeTests {
    private let site: Site

    init() throws { site = try Site() }

    private func load(_ type: String?, _ picture: String) async throws -> ImageResponse {
        let bytes = try Pictures.bytes("good/\(picture)")
        site.origin.route("/a") { _ in
            var fields: HTTPFields = [.cacheControl: "max-age=60"]
            fields[.contentType] = type
            return .init(headers: fields, body: bytes)
        }
        return try await site.loader().load(site.origin.url("/a"))
    }

    @Test(
        "An accepted type with bytes of that type, whatever its spelling, and no type at all",
        arguments: ["image/webp", "Image/WebP; charset=utf-8", "image/x-webp", "application/octet-stream", nil, ""])
    func accepted(type: String?) async throws {
        #expect(try await load(type, "webp-lossy.webp").image.size.width == 160)
    }

    @Test("image/jpg is JPEG")
    func jpg() async throws {
        #expect(try await load("image/jpg", "jpeg-progressive-444.jpg").image.nativeSize.width == 640)
    }

    @Test(
        "An image that is declared as anything else is decoded, and the trace notes the declared type",
        arguments: ["image/png", "text/plain", "image/*", "application/x-photo", "text/html; charset=utf-8"])
    func mislabelled(type: String) async throws {
        let response = try await load(type, "webp-lossy.webp")
        #expect(response.image.size.width == 160)
        let declared = String(type.prefix { $0 != ";" })
        #expect(response.trace.entries.contains { $0.fact == .mislabelled(declared: declared, as: .webp) })
    }

    @Test("A page is refused with the type that is declared", arguments: ["text/html; charset=utf-8", "image/x-icon"])
    func refused(type: String) async throws {
        site.origin.route("/a") { _ in
            .init(headers: [.contentType: type], body: Array("<!doctype html><title>Log in</title>".utf8))
        }
        let error = await failure(.unsupportedType) { try await site.loader().load(site.origin.url("/a")) }
        #expect(error?.message.contains(type.prefix { $0 != ";" }) == true)
        #expect(try await site.resources().responses.statistics()?.entries == 0)
    }

    /// Loads with a check of its own.
    private func load(_ type: String?, _ picture: String, through check: CheckContentType) async throws {
        let bytes = try Pictures.bytes("good/\(picture)")
        site.origin.route("/a") { _ in
            var fields: HTTPFields = [:]
            fields[.contentType] = type
            return .init(headers: fields, body: bytes)
        }
        _ = try await ImagePipeline.ignoreCache(site.resources()).replacing(CheckContentType.self, with: check)
            .load(ImageRequest(site.origin.url("/a")))
    }

    @Test("A strict check refuses an image that is declared as another type, and names both")
    func strict() async throws {
        let check = CheckContentType(codecs: .standard, strict: true)
        for type in ["image/png", "text/plain", "image/*"] {
            let error = await failure(.unsupportedType) { try await load(type, "webp-lossy.webp", through: check) }
            #expect(error?.message.contains(type) == true)
            #expect(error?.message.contains("image/webp") == true)
        }
        try await load("image/webp", "webp-lossy.webp", through: check)
        try await load(nil, "webp-lossy.webp", through: check)
    }

    @Test(
        "Only accepted formats are loaded, declared as such or not at all",
        arguments: [
            ("image/webp", true), (nil, true), ("application/octet-stream", true), ("image/png", false),
            ("text/plain", false),
        ])
    func accepting(type: String?, isLoaded: Bool) async throws {
        let check = CheckContentType(codecs: .standard, accepting: [.webp])
        if isLoaded {
            try await load(type, "webp-lossy.webp", through: check)
        } else {
            _ = await failure(.unsupportedType) { try await load(type, "webp-lossy.webp", through: check) }
        }
        for type in [type, "image/jpeg", "image/webp"] {
            _ = await failure(.unsupportedType) {
                try await load(type, "jpeg-progressive-444.jpg", through: check)
            }
        }
    }

    @Test(
        "A declared format that the resources add passes the check of every policy, as one that isn't declared does",
        arguments: [
            CachePolicy.standard, .returnCacheElseLoad(downloadDelay: .seconds(0)), .ignoreCache(), .useProtocol,
            .storeOnDisk,
        ])
    func added(policy: CachePolicy) async throws {
        let svg = Array("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"4\"/>".utf8)
        site.origin.route("/a") { _ in
            .init(headers: [.contentType: "image/svg+xml"], body: svg)
        }
        var resources = site.resources()
        resources.isolation = .none
        let url = site.origin.url("/a")
        let refused = await failure(.unsupportedType) { [resources] in
            try await policy.pipeline(resources).load(ImageRequest(url))
        }
        #expect(refused?.stage == "CheckContentType")
        resources.codecs = .standard.adding(.svg)
        // Its decoder refuses it outside a process of its own.
        let list = policy.pipeline(resources)
        let passed = await #expect(throws: LoadError.self) { try await list.load(ImageRequest(url)) }
        #expect(passed?.stage == (policy == .storeOnDisk ? "CheckHeader" : "Decode"))
    }
}

@Suite("The wishes of a request, in memory")
struct MemoryWishesTests {
    @Test(
        "A request that says no-cache, no-store, max-age or min-fresh is not answered from memory against its word",
        arguments: [
            ("no-cache", LoadSource.revalidated, 2), ("no-store", .network, 2), ("max-age=0", .revalidated, 2),
            ("max-age=30", .revalidated, 2), ("max-age=50", .disk, 1), ("min-fresh=30", .revalidated, 2),
            ("max-stale", .memory, 1), ("only-if-cached", .memory, 1),
        ])
    func wishes(directive: String, source: LoadSource, requests: Int) async throws {
        let site = try Site()
        let loader = site.loader()
        let options = LoadOptions(headers: [.cacheControl: directive])
        let url = site.origin.url("/a")
        // Each request with its headers has an entry of its own in memory.
        var request = options.request(for: ImageSource(url))
        let pipeline = loader.pipeline(for: .standard)
        _ = try await loader.load(url)
        request.headers = [:]
        _ = try await pipeline.load(request)
        if directive == "max-stale" || directive == "only-if-cached" {
            _ = try await loader.load(url, options: options)
        }
        site.clock.advance(by: .seconds(40))
        #expect(try await loader.load(url, options: options).source == source)
        #expect(site.requests == requests)
    }

    @Test("only-if-cached asks no origin: notCached")
    func onlyIfCached() async throws {
        let site = try Site()
        _ = await failure(.notCached) {
            try await site.loader().load(
                site.origin.url("/a"), options: LoadOptions(headers: [.cacheControl: "only-if-cached"]))
        }
        #expect(site.requests == 0)
    }
}
