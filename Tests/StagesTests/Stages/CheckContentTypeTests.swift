import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
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
        "Anything else is an error that names the type received",
        arguments: ["text/html; charset=utf-8", "image/x-icon"])
    func refused(type: String) async throws {
        let error = await failure(.unsupportedType) { try await load(type, "webp-lossy.webp") }
        #expect(error?.message.contains(type.prefix { $0 != ";" }) == true)
        #expect(try await site.resources().responses.statistics()?.entries == 0)
    }

    @Test("Bytes that are not what they are declared to be are an error that names both")
    func mislabelled() async throws {
        let error = await failure(.unsupportedType) { try await load("image/png", "webp-lossy.webp") }
        #expect(error?.message.contains("image/png") == true)
        #expect(error?.message.contains("image/webp") == true)
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
