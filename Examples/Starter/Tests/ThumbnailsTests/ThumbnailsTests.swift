import Hummingbird
import PipelineTesting
import Stages
import Testing

@Suite("The thumbnail service")
struct ThumbnailsTests {
    private let picture = Picture.png(PixelSize(width: 400, height: 200), with: [200, 40, 90])
    private let clock = ManualClock()

    /// A loader over an empty cache, which a test may give stages of its own.
    private func loader(
        addresses: AddressPolicy = .any, _ edit: @escaping @Sendable (ImagePipeline) -> ImagePipeline = { $0 }
    ) throws -> ImageLoader {
        var resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 10_000_000, clock: clock),
            client: CurlClient(.init(addresses: addresses)))
        resources.allowedSources = .remote
        return try ImageLoader(resources) { policy, resources in edit(policy.pipeline(resources)) }
    }

    /// A loader that fetches by a stage of the test instead of the network.
    private func loader(fetch: @escaping StubStage.Work) throws -> ImageLoader {
        try loader { $0.replacing(Fetch.self, with: StubStage("Fetch", produces: .original, fetch), where: .present) }
    }

    @Test("A thumbnail has the size and the format that the client asks for")
    func formats() async throws {
        let picture = picture
        let loader = try loader { load in
            load.advance(to: .original(EncodedImage(bytes: picture)), from: .network)
            return .done
        }
        try await withService(loader) { service in
            for (accept, type) in [
                ("image/avif,image/webp,*/*", "image/avif"), ("image/webp", "image/webp"), ("*/*", "image/jpeg"),
            ] {
                let response = try await service.thumbnail("https://example.com/a.png", [.accept: accept])
                #expect(response.status == 200)
                #expect(response.headers[.contentType] == type)
                #expect(response.headers[.vary] == "Accept")
                #expect(try await ImageMetadata(of: response.body).size == PixelSize(width: 64, height: 32))
            }
        }
    }

    @Test("A thumbnail is kept for as long as the origin allows, and then the origin is asked again")
    func expiry() async throws {
        let picture = picture
        let origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=3600"], body: picture) }
        let url = origin.url("/a.png").absoluteString
        try await withService(loader()) { service in
            for (passed, remaining, requests) in [(0, 3600, 1), (3599, 1, 1), (1, 3600, 2)] {
                clock.advance(by: .seconds(passed))
                let response = try await service.thumbnail(url)
                #expect(response.headers[.cacheControl] == "max-age=\(remaining)")
                #expect(origin.log.requests.count == requests)
            }
        }
    }

    @Test("A client that has the thumbnail gets no bytes")
    func notModified() async throws {
        let picture = picture
        let origin = try ScriptedOrigin { _ in .init(body: picture) }
        let url = origin.url("/a.png").absoluteString
        try await withService(loader()) { service in
            let first = try await service.thumbnail(url)
            let second = try await service.thumbnail(url, [.ifNoneMatch: #require(first.headers[.eTag])])
            #expect(second.status == 304)
            #expect(second.body.isEmpty)
        }
    }

    @Test("An error of the origin becomes a status", arguments: [(404, 404), (403, 502), (500, 502)])
    func origin(status: Int, expected: Int) async throws {
        let origin = try ScriptedOrigin { _ in .init(status: status) }
        try await withService(loader()) { service in
            let response = try await service.thumbnail(origin.url("/a.png").absoluteString)
            #expect(response.status == expected)
        }
    }

    @Test("An origin that takes too long is a 504")
    func timeout() async throws {
        let loader = try loader { load in throw LoadError(.timedOut, subject: load.subject, "It took too long.") }
        try await withService(loader) { service in
            let response = try await service.thumbnail("https://example.com/a.png")
            #expect(response.status == 504)
        }
    }

    @Test("A page is a 415, and a damaged image a 422")
    func undecodable() async throws {
        let origin = try ScriptedOrigin()
        origin.script("/a.html", .init(headers: [.contentType: "text/html"], body: "<html>"))
        origin.script("/a.png", .init(body: picture.prefix(100)))
        try await withService(loader()) { service in
            for (path, status) in [("/a.html", 415), ("/a.png", 422)] {
                let response = try await service.thumbnail(origin.url(path).absoluteString)
                #expect(response.status == status)
            }
        }
    }

    @Test(
        "A request that can't be met is a 400",
        arguments: [("example.com/a.png", "64"), ("ftp://example.com/a.png", "64"), ("https://example.com/", "wide")])
    func malformed(url: String, size: String) async throws {
        try await withService(loader()) { service in
            let response = try await service.thumbnail(url, size: size)
            #expect(response.status == 400)
        }
    }

    @Test("Files and private addresses are refused", arguments: ["file:///etc/passwd", "http://127.0.0.1:1/a.png"])
    func refused(url: String) async throws {
        try await withService(loader(addresses: .publicOnly)) { service in
            let response = try await service.thumbnail(url)
            #expect(response.status == 403)
        }
    }

    @Test("A guard in the list refuses a host before it is asked")
    func blocked() async throws {
        let origin = try ScriptedOrigin()
        let refuse = StubStage("RefuseHost") { load in
            throw LoadError(.refused, subject: load.subject, "The host is on the block list.")
        }
        try await withService(loader { $0.inserting(refuse, at: .beforeOrigin) }) { service in
            let response = try await service.thumbnail(origin.url("/a.png").absoluteString)
            #expect(response.status == 403)
            #expect(origin.log.requests.isEmpty)
        }
    }

    @Test("A client that disconnects cancels the load")
    func disconnected() async throws {
        let (began, begun) = AsyncStream<Void>.makeStream()
        let (ended, ending) = AsyncStream<Void>.makeStream()
        let clock = clock
        let loader = try loader { _ in
            defer { ending.finish() }
            begun.finish()
            try await clock.sleep(for: .seconds(1))
            return .skipped
        }
        try await withService(loader) { service in
            let request = Task { try await service.thumbnail("https://example.com/a.png") }
            for await _ in began {}
            request.cancel()
            for await _ in ended {}
            await #expect(throws: CancellationError.self) { try await request.value }
        }
    }
}
