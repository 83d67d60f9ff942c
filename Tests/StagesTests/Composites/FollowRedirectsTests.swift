import Foundation
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// Answers by path as a fetcher of one's own does, which knows nothing of redirects and of caches.
private struct OwnFetcher: Stage {
    let accepts: Phases = .empty
    let leaves: Set<ResponseState.Kind> = [.fetched]
    let targets: [String: String]
    let picture: [UInt8]
    let asked: Lock<[String]>

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .url(let url) = load.request.source else { return .skipped }
        asked.withLock { $0.append(url.path()) }
        var headers: HTTPFields = [.cacheControl: "max-age=60"]
        headers[.location] = targets[url.path()]
        load.deliver(
            HTTPExchange(
                url: url, requestHeaders: load.request.headers, status: headers[.location] == nil ? 200 : 302,
                headers: headers, requestTime: load.clock.now, responseTime: load.clock.now,
                body: headers[.location] == nil ? picture : []))
        return .done
    }
}

@Suite("Following redirects")
struct FollowRedirectsTests {
    private let site: Site
    private let asked = Lock<[String]>([])
    private let picture = Picture.png(PixelSize(width: 40, height: 30))

    init() throws { site = try Site() }

    private var paths: [String] { asked.withLock(\.self) }

    private func fetcher(_ targets: [String: String]) -> OwnFetcher {
        OwnFetcher(targets: targets, picture: picture, asked: asked)
    }

    @Test("A fetcher of one's own has its redirects followed, and each is stored by itself")
    func ownFetcher() async throws {
        let responses = site.resources().responses
        let list = ImagePipeline {
            ResolveIdentifier()
            FollowRedirects {
                Lookup(responses)
                fetcher(["/a": "/b", "/b": "/c"])
                Decode()
                Store(nil, responses)
            }
        }
        #expect(try await list.load(ImageRequest(site.origin.url("/a"))).source == .network)
        #expect(try await list.load(ImageRequest(site.origin.url("/a"))).source == .disk)
        #expect(try await list.load(ImageRequest(site.origin.url("/b"))).source == .disk)
        #expect(paths == ["/a", "/b", "/c"])
    }

    @Test("With an identifier, a fetcher of one's own has its redirects followed as one entry")
    func identified() async throws {
        let responses = site.resources().responses
        let list = ImagePipeline {
            ResolveIdentifier()
            FollowRedirects {
                Lookup(responses)
                FollowIdentified { fetcher(["/a": "/b?signature=1"]) }
                Decode()
                Store(nil, responses)
            }
        }
        let request = ImageRequest(site.origin.url("/a"), identifier: "x")
        #expect(try await list.load(request).source == .network)
        #expect(try await list.load(request).source == .disk)
        #expect(paths == ["/a", "/b"])
        #expect(try await responses.statistics()?.entries == 1)
        // The entry goes with each URL of its chain.
        #expect(await responses.remove(url: site.origin.url("/a")) == 1)
    }

    @Test("Without it a redirect is an error that names the remedy")
    func notFollowed() async throws {
        let list = ImagePipeline {
            fetcher(["/a": "/b"])
            Decode()
        }
        let error = await #expect(throws: LoadError.self) { try await list.load(ImageRequest(site.origin.url("/a"))) }
        #expect(error?.code == .httpStatus)
        #expect(error?.httpStatus == 302)
        #expect(error?.message.contains("FollowRedirects") == true)
        #expect(paths == ["/a"])
    }

    @Test("A response stored outside it has the key of its own URL")
    func storedOutside() async throws {
        let responses = site.resources().responses
        let list = ImagePipeline {
            ResolveIdentifier()
            FollowRedirects {
                Lookup(responses)
                fetcher(["/a": "/b"])
            }
            Decode()
            Store(nil, responses)
        }
        _ = try await list.load(ImageRequest(site.origin.url("/a")))
        #expect(try await list.load(ImageRequest(site.origin.url("/b"))).source == .disk)
        #expect(try await list.load(ImageRequest(site.origin.url("/a"))).source == .disk)
        // The redirect is stored nowhere.
        #expect(paths == ["/a", "/b", "/a"])
    }

    @Test(
        "Loads that come to one URL by different redirects share its fetch, and each stays as fresh as its own redirect"
    )
    func shared() async throws {
        let gate = try ScriptedOrigin.Gate()
        let picture = picture
        site.origin.route("/1") { _ in .init(status: 302, headers: [.location: "/c", .cacheControl: "max-age=10"]) }
        site.origin.route("/2") { _ in .init(status: 302, headers: [.location: "/c", .cacheControl: "max-age=30"]) }
        site.origin.route("/c") { _ in
            .init(headers: [.cacheControl: "max-age=600"], body: picture).held(until: gate)
        }
        let resources = site.resources()
        let loader = ImageLoader(resources)
        async let first = loader.load(site.origin.url("/1"))
        async let second = loader.load(site.origin.url("/2"))
        await site.origin.until { $0.requests.map(\.target).filter { $0 == "/c" }.count == 1 && $0.requests.count == 3 }
        gate.open()
        _ = try await (first, second)
        #expect(site.origin.log.requests.filter { $0.target == "/c" }.count == 1)
        site.clock.advance(by: .seconds(20))
        #expect(try await loader.load(site.origin.url("/2")).source == .memory)
        #expect(try await loader.load(site.origin.url("/1")).source == .disk)
        #expect(site.origin.log.requests.map(\.target).suffix(1) == ["/1"])
    }

    @Test("Stages see the URL of each hop, and an error names the image that was asked for")
    func hops() async throws {
        site.origin.route("/a") { _ in .redirect(to: "/b") }
        site.origin.route("/b") { _ in .init(status: 404) }
        let seen = Lock<[String]>([])
        let list = ImagePipeline.returnCacheElseLoad(site.resources()).inserting(
            ClosureStage("See", accepts: .empty, produces: .empty) { load in
                if case .url(let url) = load.request.source { seen.withLock { $0.append(url.path()) } }
                return .done
            }, at: .beforeOrigin)
        let error = await #expect(throws: LoadError.self) { try await list.load(ImageRequest(site.origin.url("/a"))) }
        #expect(seen.withLock(\.self) == ["/a", "/b"])
        #expect(error?.httpStatus == 404)
        #expect(error?.subject == site.origin.url("/a").absoluteString)
    }

    @Test("An observer is told of one request, whatever the number of hops", arguments: [nil, "x"])
    func events(identifier: String?) async throws {
        site.origin.route("/a") { _ in .redirect(to: "/b") }
        site.origin.route("/b") { _ in .redirect(to: "/c") }
        let words = Lock<[String]>([])
        let request = ImageRequest(site.origin.url("/a"), identifier: identifier)
        _ = try await ImagePipeline.returnCacheElseLoad(site.resources()).load(request) { event in
            switch event {
            case .sendingRequest: words.withLock { $0.append("sent") }
            case .requestCompleted(let source, let error):
                words.withLock { $0.append("completed: \(source.map { "\($0)" } ?? "\(error?.code.rawValue ?? "")")") }
            default: break
            }
        }
        #expect(words.withLock(\.self) == ["sent", "completed: network"])
    }

    @Test("A request whose redirect leads to something stored is told as completed")
    func eventsOfStored() async throws {
        site.origin.route("/a") { _ in .redirect(to: "/c") }
        let list = ImagePipeline.returnCacheElseLoad(site.resources())
        _ = try await list.load(ImageRequest(site.origin.url("/c")))
        let words = Lock<[String]>([])
        _ = try await ImagePipeline.returnCacheElseLoad(site.resources()).load(ImageRequest(site.origin.url("/a"))) {
            switch $0 {
            case .sendingRequest: words.withLock { $0.append("sent") }
            case .requestCompleted(let source, _):
                words.withLock { $0.append("completed: \(source.map { "\($0)" } ?? "")") }
            default: break
            }
        }
        #expect(words.withLock(\.self) == ["sent", "completed: disk"])
    }

    @Test("The cache's own credential fields never reach another origin", arguments: [nil, "x"])
    func credentials(identifier: String?) async throws {
        let other = try ScriptedOrigin { _ in .init(status: 404) }
        site.origin.route("/a") { _ in .redirect(to: other.url("/b").absoluteString) }
        let field = try #require(HTTPField.Name("X-Tenant"))
        let responses = HTTPCache(inMemory: 1_000_000, users: .several(.standard.adding("X-Tenant")))
        let resources = PipelineResources(memory: MemoryCache(), responses: responses, client: site.client)
        let request = ImageRequest(
            .url(site.origin.url("/a")), identifier: identifier, headers: [field: "secret", .accept: "image/*"])
        await #expect(throws: LoadError.self) { try await ImagePipeline.returnCacheElseLoad(resources).load(request) }
        #expect(other.log.requests.map { $0.headers[field] } == [nil])
        #expect(other.log.requests.map { $0.headers[.accept] } == ["image/*"])
        #expect(site.origin.log.requests.map { $0.headers[field] } == ["secret"])
    }
}
