import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@Suite("Redirects are cached hop by hop", .inEachStore)
struct RedirectChainTests {
    private let site: Site
    private let year: HTTPFields = [.cacheControl: "max-age=31536000", .eTag: "\"v\""]

    /// Every path has a picture that is fresh for a year.
    init() throws { site = try Site([.cacheControl: "max-age=31536000", .eTag: "\"v\""]) }

    private func redirect(_ path: String, to target: String, status: Int = 302, _ control: String? = nil) {
        site.origin.route(path) { request in
            var headers: HTTPFields = [.location: target]
            if let control { headers[.cacheControl] = control }
            return .init(status: status, headers: headers)
        }
    }

    /// A program that has just started loads the image, with nothing in memory.
    @discardableResult
    private func load(
        _ path: String = "/latest", identifier: String? = nil, headers: HTTPFields = [:], expiry: Expiry = .standard
    ) async throws -> LoadResponse {
        var request = ImageRequest(.url(site.origin.url(path)), identifier: identifier, headers: headers)
        request.expiry = expiry
        return try await ImagePipeline.returnCacheElseLoad(site.resources()).load(request)
    }

    private var paths: [String] { site.origin.log.requests.map(\.target) }

    @Test(
        "A redirect that may not be stored is asked for each time; what it leads to is stored under its own URL",
        arguments: [nil, "no-store", "max-age=60, no-store"])
    func notStored(control: String?) async throws {
        redirect("/latest", to: "/v1", control)
        #expect(try await load().source == .network)
        #expect(try await load().source == .disk)
        redirect("/latest", to: "/v2", control)
        #expect(try await load().source == .network)
        #expect(try await load("/v1").source == .disk)
        #expect(paths == ["/latest", "/v1", "/latest", "/latest", "/v2"])
    }

    @Test("A redirect is followed from the cache as long as it is fresh", arguments: [301, 302, 303, 307, 308])
    func fresh(status: Int) async throws {
        redirect("/latest", to: "/v1", status: status, "max-age=60")
        try await load()
        site.clock.advance(by: .seconds(59))
        #expect(try await load().source == .disk)
        #expect(paths.count == 2)
        redirect("/latest", to: "/v2", status: status, "max-age=60")
        site.clock.advance(by: .seconds(1))
        #expect(try await load().source == .network)
        #expect(paths.suffix(2) == ["/latest", "/v2"])
    }

    @Test("A redirect is confirmed by its own validator, and never by that of what it leads to")
    func confirmed() async throws {
        site.origin.route("/latest") { request in
            request.headers[.ifNoneMatch] == "\"r\""
                ? .init(status: 304, headers: [.eTag: "\"r\"", .cacheControl: "max-age=60"])
                : .init(status: 302, headers: [.location: "/v1", .eTag: "\"r\"", .cacheControl: "max-age=60"])
        }
        try await load()
        site.clock.advance(by: .seconds(60))
        #expect(try await load().source == .disk)
        #expect(site.origin.log.requests.map { $0.headers[.ifNoneMatch] } == [nil, nil, "\"r\""])
        site.clock.advance(by: .seconds(59))
        #expect(try await load().source == .disk)
        #expect(paths == ["/latest", "/v1", "/latest"])
    }

    @Test("An image in memory is fresh no longer than the redirect that led to it")
    func memory() async throws {
        redirect("/latest", to: "/v1", "max-age=60")
        let loader = site.loader()
        let url = site.origin.url("/latest")
        _ = try await loader.load(url)
        site.clock.advance(by: .seconds(59))
        #expect(try await loader.load(url).source == .memory)
        site.clock.advance(by: .seconds(1))
        redirect("/latest", to: "/v2", "max-age=60")
        #expect(try await loader.load(url).source == .network)
    }

    @Test("A redirect that was requested before the stored response leaves no image in memory")
    func overtaken() async throws {
        let picture = try Pictures.bytes("good/jpeg-progressive-444.jpg")
        let (arrived, release, requests) = (Gate(), DispatchSemaphore(value: 0), Lock(0))
        site.origin.route("/latest") { [year] _ in
            let isFirst = requests.withLock { requests in
                requests += 1
                return requests == 1
            }
            guard isFirst else { return .init(headers: year, body: picture) }
            arrived.open()
            release.wait()
            return .init(status: 302, headers: [.location: "/v1", .cacheControl: "max-age=600"])
        }
        let (loader, url) = (site.loader(), site.origin.url("/latest"))
        let first = loader.task(for: .url(url))
        try await arrived.wait()
        site.clock.advance(by: .seconds(1))
        let newer = try await loader.load(url, options: LoadOptions(headers: [.cacheControl: "no-cache"]))
        release.signal()
        let older = try await first.response
        #expect(older.image != newer.image)
        #expect(try await loader.load(url).image == newer.image)
        #expect(paths == ["/latest", "/latest", "/v1"])
    }

    @Test("When any hop becomes invalid the image leaves memory", arguments: ["/latest", "/middle", "/v1"])
    func invalidation(hop: String) async throws {
        redirect("/latest", to: "/middle", "max-age=600")
        redirect("/middle", to: "/v1", "max-age=600")
        let resources = site.resources()
        let loader = ImageLoader(resources)
        _ = try await loader.load(site.origin.url("/latest"))
        site.clock.advance(by: .seconds(1))
        _ = await CachingClient(cache: resources.responses, client: resources.client).invalidate(site.origin.url(hop))
        #expect(try await loader.load(site.origin.url("/latest")).source != .memory)
        #expect(paths.last == hop)
        #expect(paths.count == 4)
    }

    @Test("remove(url) removes what its redirects lead to as well")
    func remove() async throws {
        redirect("/latest", to: "/middle", "max-age=600")
        redirect("/middle", to: "/v1", "max-age=600")
        let loader = site.loader()
        for path in ["/latest", "/v1", "/v2"] { _ = try await loader.load(site.origin.url(path)) }
        await loader.remove(site.origin.url("/latest"))
        #expect(try await loader.load(site.origin.url("/v2")).source == .memory)
        #expect(try await loader.load(site.origin.url("/v1")).source == .network)
        #expect(try await loader.load(site.origin.url("/latest")).source == .disk)
        #expect(paths.suffix(3) == ["/v1", "/latest", "/middle"])
    }

    @Test(
        "Where the caller decides, a redirect is fresh as long as the image",
        arguments: [Expiry.after(.seconds(100)), .never])
    func callerDecides(expiry: Expiry) async throws {
        redirect("/latest", to: "/v1")
        try await load(expiry: expiry)
        site.clock.advance(by: .seconds(99))
        #expect(try await load(expiry: expiry).source == .disk)
        #expect(paths.count == 2)
        // To the server's own word it is stale.
        #expect(try await load().source == .disk)
        #expect(paths.count == 3)
    }

    @Test("Also where the caller decides, a redirect that says no-store is asked for each time")
    func callerDecidesNoStore() async throws {
        redirect("/latest", to: "/v1", "no-store")
        try await load(expiry: .never)
        try await load(expiry: .never)
        #expect(paths == ["/latest", "/v1", "/latest"])
    }

    @Test("With an identifier the chain is one entry, as fresh as its first redirect to end")
    func identifier() async throws {
        redirect("/latest", to: "/v1?signature=1", "max-age=60")
        #expect(try await load("/latest?signature=1", identifier: "x").source == .network)
        site.clock.advance(by: .seconds(59))
        #expect(try await load("/latest?signature=2", identifier: "x").source == .disk)
        #expect(paths.count == 2)
        redirect("/latest", to: "/v1?signature=3", "max-age=60")
        site.clock.advance(by: .seconds(1))
        #expect(try await load("/latest?signature=3", identifier: "x").source == .revalidated)
        #expect(paths.suffix(2) == ["/latest?signature=3", "/v1?signature=3"])
        site.clock.advance(by: .seconds(59))
        #expect(try await load("/latest?signature=4", identifier: "x").source == .disk)
    }

    @Test(
        "With an identifier a chain with no-store on any hop is not stored, and a 302 without lifetime is stale at once"
    )
    func identifierNotStored() async throws {
        redirect("/latest", to: "/v1", "no-store")
        try await load(identifier: "x")
        #expect(try await load(identifier: "x").source == .network)
        redirect("/latest", to: "/v1")
        try await load(identifier: "x")
        #expect(try await load(identifier: "x").source == .revalidated)
        #expect(try await load(identifier: "x", expiry: .never).source == .disk)
    }

    @Test("When a URL of an identifier's chain becomes invalid, its entry goes", arguments: ["/latest", "/v1"])
    func identifierInvalid(hop: String) async throws {
        redirect("/latest", to: "/v1", "max-age=600")
        let resources = site.resources()
        let loader = ImageLoader(resources, defaults: LoadOptions(identifier: "x"))
        _ = try await loader.load(site.origin.url("/latest"))
        site.clock.advance(by: .seconds(1))
        #expect(await resources.responses.remove(url: site.origin.url(hop)) == 1)
        #expect(try await loader.load(site.origin.url("/latest")).source == .network)
    }

    @Test("The caching client and the pipeline follow each other's redirects")
    func bothFronts() async throws {
        redirect("/latest", to: "/v1", "max-age=60")
        redirect("/other", to: "/v2", "max-age=60")
        let resources = site.resources()
        let client = CachingClient(cache: resources.responses, client: resources.client)
        try await load()
        #expect(try await client.send(CachingRequest(url: site.origin.url("/latest"))).use == .hit)
        _ = try await client.send(CachingRequest(url: site.origin.url("/other")))
        #expect(try await load("/other").source == .disk)
        #expect(paths.count == 4)
    }

    @Test("A loop ends with an error, from the network and from the cache", arguments: [nil, "max-age=60"])
    func loop(control: String?) async throws {
        redirect("/a", to: "/b", control)
        redirect("/b", to: "/a", control)
        let client = CachingClient(cache: site.resources().responses, client: site.client)
        for _ in 0..<2 {
            for path in ["/a", "/b"] {
                await #expect(throws: LoadError.self) { try await load(path) }
                await #expect(throws: LoadError.self) {
                    try await client.send(CachingRequest(url: site.origin.url(path)))
                }
            }
        }
    }

    @Test("Five redirects are followed, and no sixth")
    func count() async throws {
        for index in 0..<6 { redirect("/\(index)", to: "/\(index + 1)", "max-age=60") }
        #expect(try await load("/1").source == .network)
        #expect(try await load("/1").source == .disk)
        do {
            try await load("/0")
            Issue.record("Six redirects were followed.")
        } catch let error as LoadError {
            #expect(error.code == .refused)
        }
    }

    @Test("Credentials stay with their origin on every hop, also where the redirect came from the cache")
    func credentials() async throws {
        let other = try ScriptedOrigin { [year] _ in .init(headers: year, body: Array("x".utf8)) }
        let picture = try Pictures.bytes("good/webp-lossy.webp")
        other.route("/v1") { [year] _ in .init(headers: year, body: picture) }
        redirect("/latest", to: other.url("/v1").absoluteString, "max-age=600")
        let key = try #require(HTTPField.Name("X-Api-Key"))
        let secrets: HTTPFields = [.cookie: "secret", .authorization: "secret", key: "secret", .accept: "image/*"]
        try await load(headers: secrets)
        await HTTPCache.test(site.folder, clock: site.clock).remove(url: other.url("/v1"))
        site.clock.advance(by: .seconds(1))
        #expect(try await load(headers: secrets).source == .network)
        #expect(site.requests == 1)
        #expect(site.origin.log.requests.allSatisfy { $0.headers[key] == "secret" })
        #expect(other.log.requests.count == 2)
        #expect(other.log.requests.allSatisfy { request in !request.headers.contains { $0.value == "secret" } })
        #expect(other.log.requests.allSatisfy { $0.headers[.accept] == "image/*" })
    }

    @Test("A hop to an address that is not allowed is refused, also where the redirect came from the cache")
    func addresses() async throws {
        redirect("/latest", to: site.origin.url("/v1", host: "127.0.0.2").absoluteString, "max-age=600")
        var resources = site.resources()
        resources.client = CurlClient(.init(addresses: try .publicOnly(allowing: ["127.0.0.1"])))
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let client = CachingClient(cache: resources.responses, client: resources.client)
        for _ in 0..<2 {
            do {
                _ = try await client.send(CachingRequest(url: site.origin.url("/latest")))
                Issue.record("The address was connected to.")
            } catch let error as LoadError { #expect(error.code == .refused) }
            do {
                _ = try await pipeline.load(ImageRequest(site.origin.url("/latest")))
                Issue.record("The address was connected to.")
            } catch let error as LoadError { #expect(error.code == .refused) }
        }
        #expect(paths == ["/latest"])
    }

    @Test("A redirect that can't be confirmed stands in with the image, unless it says must-revalidate")
    func standIn() async throws {
        redirect("/latest", to: "/v1", "max-age=60")
        redirect("/strict", to: "/v1", "max-age=60, must-revalidate")
        for path in ["/latest", "/strict"] { try await load(path) }
        site.clock.advance(by: .seconds(61))
        site.origin.stop()
        let response = try await load()
        #expect(response.isStale)
        #expect(response.source == .disk)
        await #expect(throws: LoadError.self) { try await load("/strict") }
    }

    @Test("Once the origin has moved a redirect, what it led to before never stands in")
    func movedStandIn() async throws {
        let gone = try ScriptedOrigin()
        let away = gone.url("/v2").absoluteString
        gone.stop()
        redirect("/latest", to: "/v1", "max-age=60")
        let resources = site.resources()
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let request = ImageRequest(site.origin.url("/latest"))
        _ = try await pipeline.load(request)
        site.clock.advance(by: .seconds(61))
        redirect("/latest", to: away, "max-age=60")
        await #expect(throws: LoadError.self) { try await pipeline.load(request) }
    }

    @Test("What a client adds to requests stays with the origin that they were made for")
    func rewritten() async throws {
        let other = try ScriptedOrigin()
        redirect("/latest", to: "/v1")
        redirect("/v1", to: other.url("/v1").absoluteString)
        var resources = site.resources()
        resources.client = Rewritten(site.client) { request in
            var request = request
            request.url.append(queryItems: [URLQueryItem(name: "token", value: "1")])
            return request
        }
        _ = try? await ImagePipeline.returnCacheElseLoad(resources).load(ImageRequest(site.origin.url("/latest")))
        #expect(paths == ["/latest?token=1", "/v1?token=1"])
        #expect(other.log.requests.map(\.target) == ["/v1"])
    }

    /// A client that may not ask for `/secret`.
    private func strictClient(wrapped: Bool = false) -> any TransferClient {
        var options = CurlClient.Options(addresses: .any)
        options.allows = { $0.path() != "/secret" }
        let client = CurlClient(options)
        return wrapped ? RateLimited(Rewritten(client) { $0 }, requestsPerSecond: 1000) : client
    }

    @Test(
        "A stored redirect leads no further than the client may ask, whoever stored it", arguments: [nil, "name"],
        [false, true])
    func disallowed(identifier: String?, wrapped: Bool) async throws {
        redirect("/latest", to: "/secret", "max-age=60")
        try await load(identifier: identifier)
        #expect(try await load(identifier: identifier).source == .disk)
        var resources = site.resources()
        resources.client = strictClient(wrapped: wrapped)
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let request = ImageRequest(.url(site.origin.url("/latest")), identifier: identifier)
        for _ in 0..<2 {
            let error = await #expect(throws: LoadError.self) { try await pipeline.load(request) }
            #expect(error?.code == .refused)
        }
        // A redirect that has become stale has no stand-in there either.
        site.clock.advance(by: .seconds(60))
        await #expect(throws: LoadError.self) { try await pipeline.load(request) }
        site.clock.advance(by: .seconds(60))
        redirect("/latest", to: "/public", "max-age=60")
        #expect(try await pipeline.load(request).source == .network)
        #expect(paths.filter { $0 == "/secret" }.count == 1)
    }

    @Test("A client with a cache follows a stored redirect no further than its client may ask")
    func disallowedInCachingClient() async throws {
        redirect("/latest", to: "/secret", "max-age=60")
        let (request, cache) = (CachingRequest(url: site.origin.url("/latest")), site.resources().responses)
        _ = try await CachingClient(cache: cache, client: site.client).send(request)
        let strict = CachingClient(cache: cache, client: strictClient())
        let error = await #expect(throws: LoadError.self) { try await strict.send(request) }
        #expect(error?.code == .refused)
        var cached = request
        cached.mode = .onlyIfCached
        #expect(try await strict.send(cached).status == 504)
        #expect(paths == ["/latest", "/secret"])
    }

    @Test("A stored redirect to an address that the client may not connect to isn't followed")
    func disallowedAddress() async throws {
        redirect("/latest", to: "/secret", "max-age=60")
        try await load()
        var resources = site.resources()
        var options = CurlClient.Options(addresses: .publicOnly)
        resources.client = CurlClient(options)
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let request = ImageRequest(site.origin.url("/latest"))
        let error = await #expect(throws: LoadError.self) { try await pipeline.load(request) }
        #expect(error?.code == .refused)
        // The proxy's address counts, not that of the host.
        options.proxy = site.origin.url("/")
        resources.client = CurlClient(options)
        #expect(try await ImagePipeline.returnCacheElseLoad(resources).load(request).source == .disk)
    }

    @Test("What a client has followed by itself is stored as stale: nobody knows for how long the redirect holds")
    func followedByClient() async throws {
        struct Following: TransferClient {
            let client: CurlClient
            func send(_ request: TransferRequest) async throws -> TransferResponse {
                try await client.send(TransferRequest(url: request.url, headers: request.headers))
            }
            var urlRule: (@Sendable (URL) -> Bool)? { client.urlRule }

            func shutdown() async { await client.shutdown() }
        }
        redirect("/latest", to: "/v1")
        var resources = site.resources()
        resources.client = Following(client: site.client)
        let pipeline = ImagePipeline.returnCacheElseLoad(resources)
        let request = ImageRequest(site.origin.url("/latest"))
        _ = try await pipeline.load(request)
        #expect(try await pipeline.load(request).source == .revalidated)
        redirect("/latest", to: "/v2")
        #expect(paths.suffix(2) == ["/latest", "/v1"])
    }

    @Test("No redirect of a load leads to a URL that its client's user doesn't allow")
    func notAllowed() async throws {
        let origin = try ScriptedOrigin { _ in .init() }
        let other = try ScriptedOrigin { _ in .init() }
        origin.route("/away") { _ in .redirect(to: other.url("/b").absoluteString) }
        origin.route("/inside") { _ in .redirect(to: "/secret") }
        var options = CurlClient.Options.local
        options.allows = { [port = origin.port] in $0.port == port && $0.path() != "/secret" }
        let loader = ImageLoader(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000), client: CurlClient(options)))
        for path in ["/away", "/inside", "/secret"] {
            let error = await #expect(throws: LoadError.self) { _ = try await loader.load(origin.url(path)) }
            #expect(error?.code == .refused)
        }
        #expect(other.log.requests.isEmpty)
        #expect(!origin.log.requests.map(\.target).contains("/secret"))
    }
}
