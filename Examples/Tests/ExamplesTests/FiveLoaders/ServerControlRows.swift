import FiveLoaders
import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("Rows of a loader under the server's cache control", .timeLimit(.minutes(5)))
struct ServerControlRows {
    private let site: LoaderSite
    private let hour = Duration.seconds(3600)
    private let http = LoadOptions(policy: .useProtocol)

    init() throws { site = try LoaderSite() }

    /// A picture that is larger than the others.
    private func larger(_ headers: HTTPFields) -> ScriptedOrigin.Reply {
        .init(headers: headers, body: Picture.png(PixelSize(width: 200, height: 100)))
    }

    private func told(_ loader: ImageLoader, _ path: String = "/a", _ options: LoadOptions? = nil) async -> [String] {
        await words(loader.task(for: site.url(path), options: options ?? http))
    }

    @Test("Cold: the request, then the image")
    func cold() async {
        #expect(await told(site.loader()) == ["sendingRequest false", "requestCompleted - 160 network"])
    }

    @Test("Fresh in memory or on disk: the cached image alone")
    func fresh() async {
        let loader = site.loader()
        _ = await told(loader)
        #expect(await told(loader) == ["hasCache 160 memory"])
        #expect(await told(site.loader()) == ["hasCache 160 disk"])
    }

    @Test("Expired and confirmed: the cached image, the request, and no image again")
    func confirmed() async {
        let loader = site.loader()
        _ = await told(loader)
        site.clock.advance(by: .seconds(61))
        #expect(
            await told(loader) == ["hasCache 160 memory", "sendingRequest true", "requestCompleted - - revalidated"])
        site.clock.advance(by: .seconds(61))
        #expect(
            await told(site.loader()) == [
                "hasCache 160 disk", "sendingRequest true", "requestCompleted - - revalidated",
            ])
    }

    @Test("Expired and changed: the old image, the request, the new image")
    func changed() async {
        let loader = site.loader()
        _ = await told(loader)
        site.clock.advance(by: .seconds(61))
        let reply = larger([.eTag: "\"2\""])
        site.origin.route("/a") { _ in reply }
        #expect(
            await told(loader) == ["hasCache 160 memory", "sendingRequest true", "requestCompleted - 200 network"])
    }

    @Test("The server gets the entity tag or the date of what is expired")
    func validators() async {
        let (picture, date) = (site.picture, "Tue, 01 Jul 2019 12:34:56 GMT")
        site.origin.route("/dated") { _ in
            .init(headers: [.lastModified: date, .cacheControl: "max-age=60"], body: picture)
        }
        let loader = site.loader()
        for path in ["/a", "/dated"] { _ = await told(loader, path) }
        site.clock.advance(by: .seconds(61))
        for path in ["/a", "/dated"] { _ = await told(loader, path) }
        let requests = site.origin.log.requests
        #expect(requests.map { $0.headers[.ifNoneMatch] } == [nil, nil, "\"1\"", nil])
        #expect(requests.map { $0.headers[.ifModifiedSince] } == [nil, nil, nil, date])
    }

    @Test("Each answer says where it came from")
    func sources() async throws {
        let loader = site.loader(http)
        var sources: [LoadSource] = []
        for loader in [loader, loader, site.loader(http)] {
            sources.append(try await loader.load(site.url("/a")).source)
        }
        site.clock.advance(by: .seconds(61))
        sources.append(try await loader.load(site.url("/a")).source)
        #expect(sources == [.network, .memory, .disk, .revalidated])
    }

    @Test("A network error ends a request")
    func networkErrors() async throws {
        site.origin.route("/html") { _ in .init(headers: [.contentType: "text/html"], body: "<p>") }
        let loader = site.loader()
        #expect(await told(loader, "/missing") == ["sendingRequest false", "requestCompleted httpStatus - -"])
        #expect(await told(loader, "/html") == ["sendingRequest false", "requestCompleted unsupportedType - -"])
        let nobody = try #require(URL(string: "http://127.0.0.1:1/a"))
        #expect(
            await words(loader.task(for: nobody)) == ["sendingRequest false", "requestCompleted unreachable - -"])
    }

    @Test("An error before any request is told too, as the one final event")
    func errorsBefore() async throws {
        let loader = loaderUnderServerControl(site.resources())
        let ftp = try #require(URL(string: "ftp://example.com/a"))
        for (source, expected): (ImageSource, LoadError.Code) in [
            (.url(ftp), .unsupportedScheme), (.file("/no/such/file"), .fileNotFound), (.dataURL("data:"), .invalidURL),
        ] {
            #expect(await words(loader.task(for: source)) == ["requestCompleted \(expected) - -"])
        }
        #expect(
            await told(loader, "/a", LoadOptions(policy: .returnCacheDontLoad())) == ["requestCompleted notCached - -"])
        for _ in 0..<3 { _ = await told(loader, "/missing") }
        #expect(await told(loader, "/missing") == ["requestCompleted httpStatus - -"])
    }

    @Test("Where the server gives no lifetime, the caller's default counts: none, or a week")
    func defaultLifetime() async throws {
        let picture = site.picture
        site.origin.route("/plain") { _ in .init(body: picture) }
        for (lifetime, expected) in [(Duration.zero, LoadSource.network), (hour * 168, .memory)] {
            let loader = site.loader(LoadOptions(expiry: .server(otherwise: lifetime)))
            for _ in 0..<2 { _ = try await loader.load(site.url("/plain")) }
            site.clock.advance(by: hour)
            #expect(try await loader.load(site.url("/plain")).source == expected)
        }
    }

    @Test("A 304 without Cache-Control is asked for again, or not for a week")
    func bare304() async {
        let picture = site.picture
        site.origin.route("/tagged") { request in
            request.headers[.ifNoneMatch] == nil
                ? .init(headers: [.eTag: "\"1\""], body: picture) : .init(status: 304, headers: [.eTag: "\"1\""])
        }
        for (lifetime, count) in [(Duration.zero, 3), (hour * 168, 1)] {
            let options = LoadOptions(expiry: .server(otherwise: lifetime))
            let loader = site.loader()
            await loader.removeAll()
            _ = await told(loader, "/tagged", options)
            for _ in 0..<2 { #expect(await told(loader, "/tagged", options).count == count) }
        }
    }

    @Test("The server's cache control can be overruled: no-cache by an expiry, no-store by the cache as well")
    func overruled() async throws {
        let picture = site.picture
        for control in ["no-cache", "no-store"] {
            site.origin.route("/\(control)") { _ in .init(headers: [.cacheControl: control], body: picture) }
        }
        let responses = HTTPCache(inMemory: 1_000_000, overrulesNoStore: true, clock: site.clock)
        let loader = ImageLoader(site.resources(responses: responses), defaults: LoadOptions(expiry: .never))
        for path in ["/no-cache", "/no-store"] {
            _ = try await loader.load(site.url(path))
            #expect(try await loader.load(site.url(path)).source == .memory)
        }
    }

    @Test("The accepted content types are chosen, whatever the policy is")
    func contentTypes() async throws {
        let picture = site.picture
        site.origin.route("/png") { _ in .init(headers: [.contentType: "image/png"], body: picture) }
        let loader = try ImageLoader(site.resources()) { policy, resources in
            policy.pipeline(resources).replacing(
                CheckContentType.self, with: CheckContentType(codecs: resources.codecs, accepting: [.jpeg]),
                where: .present)
        }
        #expect(await code { _ = try await loader.load(site.url("/png")) } == .unsupportedType)
        let options = LoadOptions(policy: .returnCacheDontLoad())
        #expect(await code { _ = try await loader.load(site.url("/png"), options: options) } == .notCached)
    }

    @Test("An origin that answers with errors is asked three times in a quarter of an hour")
    func attempts() async {
        let loader = loaderUnderServerControl(site.resources())
        for _ in 0..<5 { _ = await told(loader, "/missing") }
        #expect(site.requests == 3)
        site.clock.advance(by: .seconds(901))
        _ = await told(loader, "/missing")
        #expect(site.requests == 4)
    }

    @Test("Images need not be kept in memory")
    func noMemory() async {
        let loader = ImageLoader(site.resources(memory: MemoryCache(byteLimit: 0)))
        _ = await told(loader)
        #expect(await told(loader) == ["hasCache 160 disk"])
    }

    @Test("Memory has a limit in bytes")
    func memoryLimit() async throws {
        let memory = MemoryCache(byteLimit: 25_000_000)
        let loader = ImageLoader(site.resources(memory: memory))
        let large = Picture.png(PixelSize(width: 1600, height: 1200))
        site.origin.route("/large") { _ in .init(body: large) }
        for query in 0..<6 {
            var url = site.url("/large")
            url.append(queryItems: [URLQueryItem(name: "n", value: "\(query)")])
            _ = try await loader.load(url, options: LoadOptions(maxPixelSize: nil))
        }
        #expect(memory.byteCount <= 25_000_000)
        #expect(memory.count < 6)
    }

    @Test("Memory and disk are purged apart")
    func purge() async {
        let loader = site.loader()
        _ = await told(loader)
        loader.resources.memory.reset()
        #expect(await told(loader) == ["hasCache 160 disk"])
        loader.resources.memory.reset()
        await loader.resources.responses.removeAll()
        #expect(await told(loader).first == "sendingRequest false")
    }

    @Test("Loaders over different resources share no memory")
    func apart() async {
        _ = await told(site.loader())
        #expect(await told(site.loader()) == ["hasCache 160 disk"])
    }

    @Test("The cache is in a folder of one's own, or in the user's cache folder")
    func folder() async throws {
        _ = await told(site.loader())
        #expect(FileManager.default.fileExists(atPath: site.folder.path))
        #expect(HTTPCache.defaultFolder.hasSuffix("/pipeline"))
    }

    @Test("Files that were not used for a day are removed; a use from memory counts")
    func unused() async throws {
        let loader = site.loader(LoadOptions(expiry: .never))
        for path in ["/used", "/unused"] { _ = try await loader.load(site.url(path)) }
        site.clock.advance(by: hour * 48)
        #expect(try await loader.load(site.url("/used")).source == .memory)
        #expect(await loader.resources.responses.cleanUp(.unused(hour * 24)) == 1)
    }

    @Test("Files that were stored more than a day ago are removed")
    func created() async throws {
        let loader = site.loader()
        _ = try await loader.load(site.url("/old"))
        site.clock.advance(by: hour * 48)
        _ = try await loader.load(site.url("/new"))
        #expect(await loader.resources.responses.cleanUp(.stored(hour * 24)) == 1)
    }

    @Test("A miss is a download in the log, and each cache's own in the trace")
    func misses() async throws {
        let log = LogLines()
        let loader = ImageLoader(site.resources(), observers: [LoadLog(log.logger)])
        let response = try await loader.load(site.url("/a"))
        #expect(log.all.contains("download started"))
        try expectTrace(response.trace, contains: "MemoryLookup miss\nLookup miss\nFetch done")
    }

    @Test("Any certificate is trusted only where that is said", .enabled(if: TLSOrigin.isAvailable))
    func certificates() async throws {
        let origin = try TLSOrigin(serving: site.picture)
        defer { origin.stop() }
        var options = CurlClient.Options(addresses: .any)
        let strict = ImageLoader(site.resources(client: CurlClient(options)))
        #expect(await code { _ = try await strict.load(origin.url) } == .unreachable)
        options.trustAnyCertificate = true
        let trusting = ImageLoader(site.resources(client: CurlClient(options)))
        #expect(try await trusting.load(origin.url).image.width == 160)
    }

    @Test("A name and a password are sent")
    func credentials() async throws {
        let headers = try HTTPFields.basic(user: "alice", password: "secret")
        _ = try await site.loader(LoadOptions(headers: headers)).load(site.url("/a"))
        #expect(site.origin.log.requests.first?.headers[.authorization] == headers[.authorization])
    }

    /// A client of one's own, as a program has that uses another HTTP library.
    private struct OwnClient: TransferClient {
        let picture: [UInt8]

        func send(_ request: TransferRequest) async throws -> TransferResponse {
            TransferResponse(
                status: 200, headers: [.cacheControl: "max-age=60"], url: request.url, body: TransferBody(picture))
        }

        var urlRule: (@Sendable (URL) -> Bool)? { nil }

        func shutdown() async {}
    }

    @Test("The client may be one's own")
    func ownClient() async throws {
        let loader = ImageLoader(site.resources(client: OwnClient(picture: site.picture)))
        #expect(try await loader.load(site.url("/a")).source == .network)
        #expect(try await loader.load(site.url("/a")).source == .memory)
        #expect(site.requests == 0)
    }

    @Test("A task is returned, which can be cancelled")
    func cancel() async {
        let loader = site.loader()
        let task = loader.task(for: site.url("/held"))
        await site.origin.until { $0.requests.count == 1 }
        task.cancel()
        #expect(await words(task) == ["sendingRequest false", "cancelled"])
        await loader.resources.flights.drain()
    }

    @Test("A cell may let the load before finish, unseen")
    @MainActor
    func letFinish() async throws {
        final class View { var width = 0 }
        let (loader, view) = (site.loader(), View())
        let slot = ImageSlot(view, loader: loader, cancelsPrevious: false) { view, image in
            view.width = image?.width ?? 0
        }
        slot.set(from: site.url("/held")) { _ in Issue.record("superseded") }
        await withCheckedContinuation { continuation in
            slot.set(from: site.url("/a")) { _ in continuation.resume() }
        }
        site.gate.open()
        await loader.resources.flights.drain()
        #expect(try await loader.load(site.url("/held")).source == .memory)
    }
}
