import FoundationEssentials
import HTTPTypes
import PipelineTesting
import Stages
import Testing

@Suite("Loaders over AsyncHTTPClient", .timeLimit(.minutes(5)))
struct LoaderTests {
    private let origin: ScriptedOrigin
    private let clock = ManualClock()
    private let responses: HTTPCache

    init() throws {
        let headers: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\"", .contentType: "image/png"]
        let picture = Picture.png(PixelSize(width: 160, height: 120))
        origin = try ScriptedOrigin { request in
            request.headers[.ifNoneMatch] == nil
                ? .init(headers: headers, body: picture) : .init(status: 304, headers: headers)
        }
        responses = HTTPCache(inMemory: 64 << 20, clock: clock)
    }

    /// A loader with nothing in its memory.
    private func loader(_ local: LocalClient) -> ImageLoader {
        ImageLoader(PipelineResources(memory: MemoryCache(), responses: responses, client: local.client))
    }

    @Test("An image is loaded once, then found in the cache, then confirmed by a 304")
    func image() async throws {
        let local = LocalClient()
        let first = try await loader(local).load(origin.url("/a"))
        #expect(first.source == .network)
        #expect(first.image.size == PixelSize(width: 160, height: 120))
        #expect(try await loader(local).load(origin.url("/a")).source == .disk)
        #expect(origin.log.requests.count == 1)
        clock.advance(by: .seconds(61))
        let confirmed = try await loader(local).load(origin.url("/a"))
        #expect(confirmed.source == .revalidated)
        #expect(confirmed.image == first.image)
        #expect(origin.log.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\""])
    }

    @Test("Redirects are followed hop by hop, each under the rule")
    func redirects() async throws {
        origin.route("/a") { _ in .init(status: 301, headers: [.location: "/b", .cacheControl: "max-age=60"]) }
        origin.route("/b") { _ in .redirect(to: "/c") }
        origin.route("/away") { _ in .redirect(to: "/secret") }
        let local = LocalClient(allows: { $0.path() != "/secret" })
        #expect(try await loader(local).load(origin.url("/a")).source == .network)
        #expect(origin.log.requests.map(\.path) == ["/a", "/b", "/c"])
        // The first redirect and the image are stored.
        _ = try await loader(local).load(origin.url("/a"))
        #expect(origin.log.requests.map(\.path) == ["/a", "/b", "/c", "/b"])
        _ = await failure(.refused) { try await loader(local).load(origin.url("/away")) }
        #expect(origin.log.requests.last?.path == "/away")
    }

    @Test("Retry repeats a request whose body broke off, and one whose connection was closed")
    func retry() async throws {
        let body = Picture.png(PixelSize(width: 160, height: 120))
        origin.script("/a", .init(body: body).cut(after: 100), .raw(""), .init(body: body))
        let local = LocalClient()
        let resources = PipelineResources(memory: MemoryCache(), responses: responses, client: local.client)
        let loader = try ImageLoader(resources) { policy, resources in
            policy.pipeline(resources).replacing(
                Fetch.self, with: Retry(jitter: { 0 }) { Fetch(resources.client) }, where: .present)
        }
        #expect(try await loader.load(origin.url("/a")).source == .network)
        #expect(origin.log.requests.count == 3)
    }

    @Test("A stale image stands in for an origin that is gone")
    func staleIfError() async throws {
        let local = LocalClient()
        _ = try await loader(local).load(origin.url("/a"))
        clock.advance(by: .seconds(61))
        origin.stop()
        let response = try await loader(local).load(origin.url("/a"))
        #expect(response.isStale)
        #expect(response.source == .disk)
    }

    @Test("When a loader is shut down, its loads end and the HTTPClient stays")
    func shutdown() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/held") { _ in ScriptedOrigin.Reply().held(until: gate) }
        let local = LocalClient()
        let loader = loader(local)
        let held = Task { [origin] in try await loader.load(origin.url("/held")) }
        await origin.until { $0.requests.count == 1 }
        await loader.shutdown()
        await #expect(throws: CancellationError.self) { try await held.value }
        try await connectionsEnd(to: origin.port)
        #expect(try await local.http.get(url: origin.url("/a").absoluteString).get().status == .ok)
    }
}
