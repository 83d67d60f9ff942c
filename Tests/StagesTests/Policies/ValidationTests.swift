import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// RFC 9111 sections 4.3.3 and 4.3.4, for images.
@Suite("What the origin says of a stored image", .inEachStore)
struct ValidationTests {
    private let site: Site
    private let picture: [UInt8]
    private let other: [UInt8]

    init() throws {
        site = try Site()
        picture = try Pictures.bytes("good/webp-lossy.webp")
        other = try Pictures.bytes("good/bmp-rgb24.bmp")
    }

    /// A program that has just started loads the image.
    private func load(_ path: String = "/a", _ headers: HTTPFields = [:]) async throws -> LoadResponse {
        try await ImagePipeline.returnCacheElseLoad(site.resources())
            .load(ImageRequest(.url(site.origin.url(path)), headers: headers))
    }

    private func tag() async throws -> String? {
        let key = try #require(SourceKey(ImageRequest(site.origin.url("/a"))))
        return try await HTTPCache.test(site.folder, clock: site.clock).lookup(key).response?.headers[.eTag]
    }

    @Test("A 304 about another response is not believed: the image is asked for without conditions")
    func foreignNotModified() async throws {
        let (picture, other) = (picture, other)
        site.origin.script(
            "/a", .init(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: picture),
            .init(status: 304, headers: [.eTag: "\"2\"", .cacheControl: "max-age=60"]),
            .init(headers: [.eTag: "\"2\"", .cacheControl: "max-age=60"], body: other))
        _ = try await load()
        site.clock.advance(by: .seconds(61))
        #expect(try await load().source == .network)
        #expect(site.origin.log.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil])
        #expect(try await tag() == "\"2\"")
    }

    @Test(
        "The caller's own conditions are left out: a 304 to them would say nothing of the stored response",
        arguments: ["If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"])
    func ownConditions(name: String) async throws {
        let field = try #require(HTTPField.Name(name))
        site.origin.route("/a") { [picture] request in
            request.headers.contains(field)
                ? .init(status: 304, headers: [.eTag: "\"2\""])
                : .init(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: picture)
        }
        #expect(try await load("/a", [field: "\"2\""]).source == .network)
        #expect(site.origin.log.requests.allSatisfy { !$0.headers.contains(field) })
    }

    @Test(
        "A stored validator that can't be sent is left out, and the image is asked for whole", arguments: [0x01, 0x7f])
    func unsendableValidator(byte: UInt8) async throws {
        var reply = Array("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nETag: \"a".utf8) + [byte]
        reply += Array("b\"\r\nContent-Length: \(picture.count)\r\n\r\n".utf8) + picture
        site.origin.script(
            "/a", .raw(reply), .init(headers: [.eTag: "\"2\"", .cacheControl: "max-age=60"], body: picture))
        _ = try await load()
        site.clock.advance(by: .seconds(61))
        #expect(try await load().source == .network)
        #expect(try await tag() == "\"2\"")
    }

    @Test(
        "Every final response but a server's error evicts the stored response, so that it never stands in",
        arguments: [401, 403, 404, 410, 429])
    func evictedByError(status: Int) async throws {
        site.origin.script(
            "/a", .init(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: picture),
            .init(status: status, headers: [.cacheControl: "no-store"]))
        let resources = site.resources()
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let request = ImageRequest(site.origin.url("/a"))
        _ = try await pipeline.load(request)
        site.clock.advance(by: .seconds(61))
        await #expect(throws: LoadError.self) { try await pipeline.load(request) }
        #expect(try await tag() == nil)
        #expect(resources.memory.count == 0)
        site.origin.stop()
        await #expect(throws: LoadError.self) { try await pipeline.load(request) }
    }

    @Test("A server's error evicts nothing", arguments: [500, 503])
    func keptByServerError(status: Int) async throws {
        site.origin.script(
            "/a", .init(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: picture), .init(status: status))
        _ = try await load()
        site.clock.advance(by: .seconds(61))
        await #expect(throws: LoadError.self) { try await load() }
        #expect(try await tag() == "\"1\"")
    }

    @Test("ignoreCache evicts as well: it asked the origin, which has it no more")
    func ignoreCache() async throws {
        site.origin.script(
            "/a", .init(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: picture), .init(status: 410))
        let resources = site.resources()
        _ = try await ImagePipeline.returnCacheElseLoad(resources).load(ImageRequest(site.origin.url("/a")))
        await #expect(throws: LoadError.self) {
            try await ImagePipeline.ignoreCache(resources).load(ImageRequest(site.origin.url("/a")))
        }
        #expect(try await tag() == nil)
        #expect(resources.memory.count == 0)
    }

    @Test("Pragma: no-cache asks the origin, as it does on disk, though memory has the image")
    func pragma() async throws {
        let pipeline = ImagePipeline.returnCacheElseLoad(site.resources())
        let pragma: HTTPFields = [try #require(HTTPField.Name("Pragma")): "no-cache"]
        let request = ImageRequest(.url(site.origin.url("/a")), headers: pragma)
        _ = try await pipeline.load(request)
        #expect(try await pipeline.load(request).source == .revalidated)
    }

    @Test("After the clock was set back memory has nothing fresh, as the disk has not")
    func clockSetBack() async throws {
        let pipeline = ImagePipeline.returnCacheElseLoad(site.resources())
        let request = ImageRequest(site.origin.url("/a"))
        _ = try await pipeline.load(request)
        site.clock.set(now: site.clock.now - 126_230_400)
        #expect(try await pipeline.load(request).source == .revalidated)
        #expect(try await pipeline.load(request).source == .memory)
    }

    @Test("The caller's default counts from the age that the response had already, in memory too")
    func defaultFromAge() async throws {
        site.origin.route("/a") { [picture] _ in .init(headers: [.age: "80000", .eTag: "\"1\""], body: picture) }
        let pipeline = ImagePipeline.returnCacheElseLoad(site.resources())
        let request = ImageRequest(site.origin.url("/a"))
        _ = try await pipeline.load(request)
        #expect(try await pipeline.load(request).source == .memory)
        site.clock.advance(by: .seconds(10_000))
        #expect(try await pipeline.load(request).source != .memory)
    }

    @Test("An older response never replaces a newer one, on disk or in memory")
    func olderAnswer() async throws {
        let gate = try ScriptedOrigin.Gate()
        let resources = site.resources()
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let request = ImageRequest(site.origin.url("/a"))
        site.origin.script(
            "/a",
            .init(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: picture),
            ScriptedOrigin.Reply(status: 304, headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"]).held(until: gate),
            .init(headers: [.eTag: "\"2\"", .cacheControl: "max-age=60"], body: other))
        _ = try await pipeline.load(request)
        site.clock.advance(by: .seconds(61))
        async let slow = pipeline.load(request)
        await site.origin.until { $0.requests.count == 2 }
        site.clock.advance(by: .seconds(1))
        let client = CachingClient(cache: resources.responses, client: resources.client)
        _ = try await client.send(CachingRequest(url: site.origin.url("/a"), mode: .reload))
        gate.open()
        _ = try await slow
        #expect(try await tag() == "\"2\"")
        #expect(try await pipeline.load(request).size != PixelSize(width: 160, height: 120))
    }

    @Test("What a slow transfer brings doesn't replace what was asked for after it")
    func slowTransfer() async throws {
        let gate = try ScriptedOrigin.Gate()
        let resources = site.resources()
        site.origin.script(
            "/a",
            ScriptedOrigin.Reply(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: picture).held(
                until: gate),
            .init(headers: [.eTag: "\"2\"", .cacheControl: "max-age=60"], body: other))
        let request = ImageRequest(site.origin.url("/a"))
        async let slow = ImagePipeline.ignoreCache(resources).load(request)
        await site.origin.until { $0.requests.count == 1 }
        site.clock.advance(by: .seconds(1))
        let client = CachingClient(cache: resources.responses, client: resources.client)
        _ = try await client.send(CachingRequest(url: site.origin.url("/a"), mode: .reload))
        gate.open()
        _ = try await slow
        #expect(try await tag() == "\"2\"")
        #expect(resources.memory.count == 0)
    }
}
