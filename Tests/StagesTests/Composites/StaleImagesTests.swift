import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Stale images that are given all the same", .inEachStore)
struct StaleImagesTests {
    private func site(_ control: String) throws -> Site { try Site([.eTag: "\"1\"", .cacheControl: control]) }

    /// Loads once, and then again after some time, as a program does that has just started.
    private func again(_ site: Site, after seconds: Int, _ headers: HTTPFields = [:]) async throws -> ImageResponse {
        site.clock.advance(by: .seconds(seconds))
        return try await site.loader().load(site.origin.url("/a"), options: LoadOptions(headers: headers))
    }

    private func load(_ site: Site) async throws { _ = try await site.loader().load(site.origin.url("/a")) }

    @Test("Where the origin can't be reached the stale image at hand is the result, and says so")
    func unreachable() async throws {
        let site = try site("max-age=60")
        try await load(site)
        site.origin.route("/a") { _ in .raw("") }
        let response = try await again(site, after: 100)
        #expect(response.isStale)
        #expect(response.source == .disk)
        #expect(response.image.size == PixelSize(width: 160, height: 120))
        #expect(response.trace.entries(of: StaleIfError.self).map(\.fact) == [.standIn(for: .unreachable, from: .disk)])
    }

    @Test("So is an image that is in memory alone, unless its response forbids it", arguments: [true, false])
    func inMemoryAlone(isAllowed: Bool) async throws {
        let site = try site(isAllowed ? "max-age=60" : "max-age=60, must-revalidate")
        let resources = site.resources()
        let loader = ImageLoader(resources)
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        await resources.responses.removeAll()
        site.clock.advance(by: .seconds(100))
        site.origin.route("/a") { _ in .raw("") }
        guard isAllowed else {
            _ = await failure(.unreachable) { try await loader.load(url) }
            return
        }
        let response = try await loader.load(url)
        #expect(response.isStale)
        #expect(response.source == .memory)
        site.origin.route("/a") { _ in .init(status: 503) }
        _ = await failure(.httpStatus) { try await loader.load(url) }
    }

    @Test("An option lets the image stand in for any 5xx for a time, from disk and from memory alone")
    func allowedByOption() async throws {
        let site = try site("max-age=60")
        let resources = site.resources()
        let loader = ImageLoader(resources, defaults: LoadOptions(staleIfError: .seconds(100)))
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        site.origin.route("/a") { _ in .init(status: 521) }
        site.clock.advance(by: .seconds(100))
        let response = try await loader.load(url)
        #expect(response.isStale)
        #expect(response.source == .disk)
        _ = await failure(.httpStatus) { try await loader.load(url, options: LoadOptions()) }
        await resources.responses.removeAll()
        #expect(try await loader.load(url).source == .memory)
        site.origin.route("/a") { _ in .init(status: 404) }
        _ = await failure(.httpStatus) { try await loader.load(url) }
        site.origin.route("/a") { _ in .init(status: 503) }
        site.clock.advance(by: .seconds(60))
        _ = await failure(.httpStatus) { try await loader.load(url) }
    }

    @Test("Concurrent loads of which one allows a stale image each get what they allow")
    func allowedByOne() async throws {
        let site = try site("max-age=60")
        try await load(site)
        site.clock.advance(by: .seconds(100))
        let gate = try ScriptedOrigin.Gate()
        site.origin.route("/a") { _ in ScriptedOrigin.Reply(status: 503).held(until: gate) }
        let (loader, url) = (site.loader(), site.origin.url("/a"))
        async let strict = failure(.httpStatus) { try await loader.load(url) }
        async let allowed = loader.load(url, options: LoadOptions(staleIfError: .seconds(100)))
        // If they shared a flight, they would be two of its waiters, and it one of the request's.
        await site.flights.reaches(waiters: 3)
        gate.open()
        #expect(try await allowed.isStale)
        _ = await strict
    }

    @Test("The next load tries again, and an origin that is back confirms the image")
    func back() async throws {
        let site = try site("max-age=60")
        let loader = site.loader()
        let url = site.origin.url("/a")
        _ = try await loader.load(url)
        site.clock.advance(by: .seconds(100))
        site.origin.route("/a") { _ in .raw("") }
        #expect(try await loader.load(url).isStale)
        site.origin.route("/a") { _ in .init(status: 304, headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"]) }
        let response = try await loader.load(url)
        #expect(!response.isStale)
        #expect(response.source == .revalidated)
    }

    @Test(
        "A response that forbids it is not given stale (RFC 9111 section 4.2.4)",
        arguments: ["max-age=60, must-revalidate", "max-age=60, no-cache"])
    func forbidden(control: String) async throws {
        let site = try site(control)
        try await load(site)
        site.origin.route("/a") { _ in .raw("") }
        _ = await failure(.unreachable) { try await again(site, after: 100) }
    }

    @Test("An origin's error is stood in for only where stale-if-error allows it (RFC 5861 section 4)")
    func staleIfError() async throws {
        for (control, status, isGiven) in [
            ("max-age=60", 503, false), ("max-age=60, stale-if-error=60", 503, true),
            ("max-age=60, stale-if-error=60", 404, false), ("max-age=60, stale-if-error=30", 503, false),
        ] {
            let site = try site(control)
            try await load(site)
            site.origin.route("/a") { _ in .init(status: status) }
            if isGiven {
                #expect(try await again(site, after: 100).isStale)
            } else {
                _ = await failure(.httpStatus) { try await again(site, after: 100) }
            }
        }
    }

    @Test("stale-while-revalidate gives the stale image and refreshes it in the background (RFC 5861 section 3)")
    func whileRevalidating() async throws {
        let site = try site("max-age=60, stale-while-revalidate=60")
        try await load(site)
        let gate = try ScriptedOrigin.Gate()
        site.origin.route("/a") { _ in
            ScriptedOrigin.Reply(status: 304, headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"]).held(until: gate)
        }
        let accept: HTTPFields = [.accept: "image/webp"]
        let first = try await again(site, after: 100, accept)
        #expect(first.isStale)
        #expect(first.source == .disk)
        #expect(try await again(site, after: 0, accept).isStale)
        gate.open()
        await site.flights.drain()
        #expect(site.requests == 2)
        #expect(site.origin.log.requests.last?.headers[.accept] == "image/webp")
        #expect(site.origin.log.requests.last?.headers[.ifNoneMatch] == "\"1\"")
        let second = try await again(site, after: 30, accept)
        #expect(!second.isStale)
        #expect(second.source == .disk)
        #expect(site.requests == 2)
    }

    @Test("A stale image that is no longer an image is removed, and the origin asked for all of it")
    func damaged() async throws {
        let site = try site("max-age=60, stale-while-revalidate=60")
        let text = HTTPExchange(
            url: site.origin.url("/a"), status: 200, headers: [.cacheControl: "max-age=60", .eTag: "\"1\""],
            requestTime: site.clock.now, responseTime: site.clock.now, body: Array("no image".utf8))
        let key = try #require(SourceKey(ImageRequest(site.origin.url("/a"))))
        _ = await site.resources().responses.commit(text, for: key)
        let response = try await again(site, after: 100)
        #expect(!response.isStale)
        #expect(response.source == .network)
        #expect(site.origin.log.requests.map { $0.headers[.ifNoneMatch] } == ["\"1\"", nil])
    }
}

/// BEHAVIOURS 12 and 13.
@Suite("What a load under the server's rules reports, and in which order", .inEachStore)
struct EventOrderTests {
    private let site: Site

    init() throws { site = try Site() }

    private func events(
        _ resources: PipelineResources, _ policy: CachePolicy = .useProtocol
    ) async throws -> (LoadResponse, [String]) {
        let events = Lock<[String]>([])
        let response = try await policy.pipeline(resources).load(ImageRequest(site.origin.url("/a"))) {
            event in
            let text: String? =
                switch event {
                case .hasCache(let product, let source): "hasCache \(source), \(product.image?.size.width ?? 0) wide"
                case .sendingRequest(let had): "sendingRequest, had image: \(had)"
                case .requestCompleted(let source, let error):
                    "requestCompleted \(source?.rawValue ?? "-"), \(error?.code.rawValue ?? "-")"
                default: nil
                }
            if let text { events.withLock { $0.append(text) } }
        }
        return (response, events.withLock { $0 })
    }

    @Test("No image at hand: the request, and its end")
    func miss() async throws {
        let (response, events) = try await events(site.resources())
        #expect(response.source == .network)
        #expect(events == ["sendingRequest, had image: false", "requestCompleted network, -"])
    }

    @Test("A fresh image, in memory or on disk: that alone")
    func freshHit() async throws {
        let resources = site.resources()
        _ = try await events(resources)
        #expect(try await events(resources).1 == ["hasCache memory, 160 wide"])
        for policy in [CachePolicy.useProtocol, .standard, .returnCacheDontLoad()] {
            #expect(try await events(site.resources(), policy).1 == ["hasCache disk, 160 wide"])
        }
        #expect(site.requests == 1)
    }

    @Test("A stale image that is refreshed in the background: that alone")
    func refreshed() async throws {
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        site.origin.route("/a") { _ in
            .init(headers: [.cacheControl: "max-age=0, stale-while-revalidate=60"], body: picture)
        }
        _ = try await events(site.resources())
        #expect(try await events(site.resources()).1 == ["hasCache disk, 160 wide"])
        await site.flights.drain()
        #expect(site.requests == 2)
    }

    @Test(
        "An expired image: that first, then the request and its end; a 304 takes it without a second decode",
        arguments: [CachePolicy.useProtocol, .standard])
    func expiredHit(policy: CachePolicy) async throws {
        _ = try await events(site.resources(), policy)
        site.clock.advance(by: .seconds(61))
        let (response, events) = try await events(site.resources(), policy)
        #expect(response.source == .revalidated)
        #expect(
            events == [
                "hasCache disk, 160 wide", "sendingRequest, had image: true", "requestCompleted revalidated, -",
            ])
        #expect(response.trace.entries(of: Decode.self).count == 1)
        #expect(response.image?.size == PixelSize(width: 160, height: 120))
        #expect(try await self.events(site.resources(), policy).1 == ["hasCache disk, 160 wide"])
        #expect(site.requests == 2)
    }

    @Test(
        "An expired image that has changed: the stale one first, then the new one",
        arguments: [CachePolicy.useProtocol, .standard])
    func changed(policy: CachePolicy) async throws {
        let resources = site.resources()
        _ = try await events(resources, policy)
        site.clock.advance(by: .seconds(61))
        let other = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        site.origin.route("/a") { _ in .init(headers: [.eTag: "\"2\""], body: other) }
        let (response, events) = try await events(resources, policy)
        #expect(response.image?.size.width == 640)
        #expect(
            events == [
                "hasCache memory, 160 wide", "sendingRequest, had image: true", "requestCompleted network, -",
            ])
    }

    @Test(
        "An expired image and no origin: all three, the last with the error, and the stale image is the result",
        arguments: [CachePolicy.useProtocol, .standard])
    func unreachable(policy: CachePolicy) async throws {
        _ = try await events(site.resources(), policy)
        site.clock.advance(by: .seconds(61))
        site.origin.route("/a") { _ in .raw("") }
        let (response, events) = try await events(site.resources(), policy)
        #expect(response.isStale)
        #expect(
            events == [
                "hasCache disk, 160 wide", "sendingRequest, had image: true", "requestCompleted -, unreachable",
            ])
    }
}

extension LoadProduct {
    fileprivate var image: DecodedImage? { if case .image(let image) = self { image } else { nil } }
}
