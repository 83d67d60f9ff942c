import Foundation
import HTTPTypes
import Metrics
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting
import Stages
import Testing

@testable import PipelineServer

@Suite("Tenants have their own keys, sources, caches and shares of the work")
final class TenantTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "tenants-\(UUID().uuidString)")
    private let channel = NSObject()
    private let origin: ScriptedOrigin
    private let clock = ManualClock()
    private let metrics = PrometheusMetrics()
    private let lines: Lock<[String]>
    private let log: RequestLog
    private let picture = Picture.png(PixelSize(width: 40, height: 20), with: [200, 100, 50])

    init() throws {
        origin = try ScriptedOrigin()
        let lines = Lock<[String]>([])
        self.lines = lines
        log = RequestLog(.all) { line in lines.withLock { $0.append(line) } }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(picture).write(to: folder.appending(path: "a.png"))
        for path in ["/a/x.png", "/b/x.png"] {
            origin.route(path) { [picture] _ in
                .init(headers: [.contentType: "image/png", .cacheControl: "max-age=600"], body: picture)
            }
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func keys(_ byte: UInt8, count: Int = 16) throws -> SigningKeys {
        try SigningKeys([.init(secret: Array(repeating: byte, count: count))])
    }

    /// Two tenants, each with a part of the origin.
    private func tenants() throws -> [Tenant] {
        try ([("a", 0xA1), ("b", 0xB1)] as [(String, UInt8)]).map { (name, byte) in
            var tenant = try Tenant(name, keys: keys(byte))
            tenant.sources = SourcePolicy(origins: [origin.url("/\(name)/")])
            return tenant
        }
    }

    private func responder(
        _ tenants: [Tenant], keys: SigningKeys? = nil, change: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> ImageResponder {
        let cache = HTTPCache(
            folder: folder.appending(path: "cache").path, byteLimit: 1_000_000, isShared: true, clock: clock)
        let curl = CurlClient(CurlClient.Options(addresses: try .publicOnly(allowing: ["127.0.0.1"])))
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: 1_000_000), responses: cache, client: curl, isolation: .none)
        resources.allowedSources = [.remote, .files]
        var configuration = try ServerConfiguration(
            hosts: Hosts(listeningAt: "127.0.0.1"),
            sources: SourcePolicy(folder: folder.path, origins: [origin.url("/")]), keys: keys)
        try configuration.setTenants(tenants)
        change(&configuration)
        return ImageResponder(configuration, loader: ImageLoader(resources), metrics: metrics, log: log)
    }

    private func send(
        _ path: String, to responder: ImageResponder, method: String = "GET", _ fields: HTTPFields = [:]
    ) async throws -> ServerResponse {
        let method = try #require(HTTPRequest.Method(method))
        return await responder.respond(
            to: HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path, headerFields: fields),
            over: ClientConnection(channel, address: "127.0.0.1"))
    }

    private func status(_ path: String, _ responder: ImageResponder) async throws -> Int {
        try await send(path, to: responder).head.status.code
    }

    private func path(_ source: String, _ keys: SigningKeys?, _ options: String = "10x10") -> String {
        let source = source.hasPrefix("/") ? origin.url(source).absoluteString : source
        return ThumbDialect.path(options, to: source, signedWith: keys)
    }

    @Test("A tenant's signature opens its own sources alone, also after a redirect and in other spellings")
    func sources() async throws {
        origin.route("/a/away.png") { [origin] _ in .redirect(to: origin.url("/b/x.png").absoluteString) }
        let responder = try responder(try tenants())
        let (a, b) = (try keys(0xA1), try keys(0xB1))
        #expect(try await status(path("/a/x.png", a), responder) == 200)
        #expect(try await status(path("/b/x.png", b), responder) == 200)
        for source in ["/b/x.png", "/a/away.png", "/a/../b/x.png", "/a/%2e%2e/b/x.png", "/A/x.png"] {
            #expect(try await status(path(source, a), responder) == 403, "\(source)")
        }
        // A tenant with sources of its own doesn't read the server's folder.
        #expect(try await status(path("a.png", a), responder) == 404)
        // The signature of another path, and none.
        let end = try #require(path("/a/x.png", a).split(separator: "?").last)
        #expect(try await status(path("/b/x.png", nil) + "?\(end)", responder) == 403)
        #expect(try await status(path("/a/x.png", nil), responder) == 403)
        #expect(try await status(path("a.png", try keys(0xC1)), responder) == 403)
    }

    @Test("A source that two tenants have is fetched and kept for each")
    func partitions() async throws {
        let later = Picture.png(PixelSize(width: 20, height: 40), with: [5, 6, 7])
        let fields: HTTPFields = [.contentType: "image/png", .cacheControl: "max-age=600"]
        origin.script("/c.png", .init(headers: fields, body: picture), .init(headers: fields, body: later))
        var tenants = try tenants()
        for index in tenants.indices { tenants[index].sources = nil }
        let responder = try responder(tenants)
        func tag(_ byte: UInt8) async throws -> String? {
            try await send(path("/c.png", try keys(byte)), to: responder).head.headerFields[.eTag]
        }
        let (first, second) = (try await tag(0xA1), try await tag(0xB1))
        #expect(first != nil && second != nil && first != second)
        #expect(try await tag(0xA1) == first)
        #expect(try await tag(0xB1) == second)
        #expect(origin.log.requests.count == 2)
        // The failure of one isn't remembered for the other either.
        origin.route("/gone.png") { _ in .init(status: 404) }
        for byte in [0xA1, 0xA1, 0xB1] as [UInt8] {
            #expect(try await status(path("/gone.png", try keys(byte)), responder) == 404)
        }
        #expect(origin.log.requests.count == 4)
    }

    @Test("A purge removes a source for the tenant that has signed the path")
    func purge() async throws {
        var tenants = try tenants()
        for index in tenants.indices { tenants[index].sources = nil }
        let responder = try responder(tenants) { $0.purgeToken = "a token of 24 characters" }
        for byte in [0xA1, 0xB1] as [UInt8] {
            #expect(try await status(path("/a/x.png", try keys(byte)), responder) == 200)
        }
        let own = path("/a/x.png", try keys(0xA1))
        #expect(try await send(own, to: responder, method: "PURGE").head.status.code == 401)
        let token: HTTPFields = [.authorization: "Bearer a token of 24 characters"]
        #expect(try await send(own, to: responder, method: "PURGE", token).head.status.code == 204)
        #expect(try await status(path("/a/x.png", try keys(0xB1)), responder) == 200)
        #expect(origin.log.requests.count == 2)
        #expect(try await status(own, responder) == 200)
        #expect(origin.log.requests.count == 3)
    }

    @Test("A tenant's clients share its rate, and leave that of others")
    func rates() async throws {
        var tenants = try tenants()
        (tenants[0].requestsPerSecond, tenants[0].burst) = (1, 2)
        let responder = try responder(tenants)
        let own = path("/a/x.png", try keys(0xA1))
        for expected in [200, 200, 429] { #expect(try await status(own, responder) == expected) }
        #expect(try await status(path("/b/x.png", try keys(0xB1)), responder) == 200)
        // Strangers use up nothing of it.
        for _ in 0..<5 { #expect(try await status(own + "A", responder) == 403) }
        #expect(try await send(own, to: responder).head.headerFields[.retryAfter] != nil)
    }

    @Test("A tenant takes its share of the queue, and of an origin what others leave isn't counted")
    func queue() {
        let queue = WorkQueue(
            limit: 8, originLimit: 2, tenantLimits: ["a": 3], metrics: NOOPMetricsHandler.instance,
            memory: FreedMemory(clock: ManualClock()) {})
        #expect(queue.enter("x", of: "a") && queue.enter("x", of: "a") && !queue.enter("x", of: "a"))
        #expect(queue.enter("x", of: "b") && queue.enter("x") && queue.count == 4)
        #expect(queue.enter(nil, of: "a") && !queue.enter(nil, of: "a"))
        queue.leave("x", of: "a")
        #expect(queue.enter("y", of: "a") && queue.enter("x", of: "b") && queue.enter(nil) && queue.count == 7)
    }

    @Test("The log and the metrics name the tenant of a valid signature")
    func observing() async throws {
        let responder = try responder(try tenants(), keys: try keys(0xC1))
        #expect(try await status(path("/a/x.png", try keys(0xA1)), responder) == 200)
        #expect(try await status(path("/b/x.png", try keys(0xA1)), responder) == 403)
        #expect(try await status(path("/a/x.png", try keys(0xC1)), responder) == 200)
        #expect(try await status(path("/a/x.png", nil), responder) == 403)
        await log.flush()
        let named = lines.withLock { $0.map { $0.contains("\"tenant\":\"a\"") } }
        #expect(named == [true, true, false, false])
        for line in [
            "http_requests_total{kind=\"thumb\",tenant=\"a\",outcome=\"200\"} 1",
            "http_requests_total{kind=\"thumb\",tenant=\"a\",outcome=\"403\"} 1",
            "http_requests_total{kind=\"thumb\",outcome=\"200\"} 1",
            "http_requests_total{kind=\"thumb\",outcome=\"403\"} 1",
        ] { #expect(metrics.text.contains(line), "\(line)") }
    }

    @Test("Without a signature a path belongs to none of them, and is served only where the server says so")
    func unsigned() async throws {
        let strict = try responder(try tenants())
        #expect(try await status(path("a.png", nil), strict) == 403)
        let open = try responder(try tenants()) { $0.servesUnsigned = true }
        #expect(try await status(path("a.png", nil), open) == 200)
        #expect(try await status(path("/b/x.png", nil), open) == 200)
        // With a tenant's signature it is still the tenant's.
        #expect(try await status(path("/b/x.png", try keys(0xA1)), open) == 403)
        #expect(try await status("/iiif/a.png/info.json", open) == 200)
    }

    @Test("Keys of tenants are replaced while the server runs, and one that is missing can't sign")
    func reload() async throws {
        let responder = try responder(try tenants())
        let (old, new) = (path("/a/x.png", try keys(0xA1)), path("/a/x.png", try keys(0xA2)))
        let other = path("/b/x.png", try keys(0xB1))
        try responder.replaceKeys(nil, tenants: [Tenant("a", keys: keys(0xA2))])
        #expect(try await status(old, responder) == 403)
        #expect(try await status(new, responder) == 200)
        #expect(try await status(other, responder) == 403)
        #expect(throws: ServerConfigurationError.self) {
            try responder.replaceKeys(nil, tenants: [Tenant("a", keys: keys(1)), Tenant("b", keys: keys(1))])
        }
        #expect(try await status(new, responder) == 200)
    }

    @Test("Tenants that could be taken for each other are refused")
    func clashes() throws {
        var configuration = try ServerConfiguration(
            hosts: Hosts(listeningAt: "127.0.0.1"), sources: SourcePolicy(), keys: keys(0xC1))
        func trusting(_ byte: UInt8) throws -> SigningKeys {
            try SigningKeys(file: "trusted:migration\n" + String(repeating: "a\(byte)", count: 16))
        }
        let zeros = try SigningKeys([.init(secret: Array(repeating: 0xA1, count: 16) + [0, 0])])
        let salted = try SigningKeys([.init(secret: Array(repeating: 0xA1, count: 16), salt: [1])])
        for (pair, text) in [
            ([try Tenant("a", keys: keys(1)), try Tenant("a", keys: keys(2))], "the tenant a"),
            ([try Tenant("a", keys: keys(1)), try Tenant("b", keys: keys(1))], "the tenant a and the tenant b"),
            ([try Tenant("a", keys: keys(0xA1)), try Tenant("b", keys: zeros)], "in common"),
            ([try Tenant("a", keys: keys(0xA1)), try Tenant("b", keys: salted)], "in common"),
            ([try Tenant("a", keys: trusting(1)), try Tenant("b", keys: trusting(2))], "in common"),
            ([try Tenant("a", keys: keys(0xC1))], "the server and the tenant a"),
        ] {
            let error = #expect(throws: ServerConfigurationError.self) { try configuration.setTenants(pair) }
            #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
        }
        #expect(configuration.tenants.isEmpty)
        try configuration.setTenants([Tenant("a", keys: keys(1)), Tenant("b", keys: keys(2))])
    }

    @Test(
        "A name that would be more than a word in a log is refused",
        arguments: ["", "a b", "a\n{\"level\":\"info\"}", "ä", "a\"", "a=b", "a/b", String(repeating: "a", count: 65)])
    func names(name: String) throws {
        let keys = try keys(1)
        let error = #expect(throws: ServerConfigurationError.self) { try Tenant(name, keys: keys) }
        #expect(error?.description.contains("\n") == false)
    }

    @Test("Tenants are read from options and files of keys, whatever their line ends")
    func texts() throws {
        let file = folder.appending(path: "keys").path
        let (first, second) = (String(repeating: "a1", count: 16), String(repeating: "b2", count: 16))
        try Data("# shop\r\n\r\n\(first):01\r\n  \(second)\r\n".utf8).write(to: URL(filePath: file))
        let tenants = try Tenant.tenants(
            ["shop=\(file)"], sources: ["shop=https://a.test/x=1/", "shop=s3://bucket/"], rates: ["shop=0.5,3"],
            queues: ["shop=7"], lifetimes: ["shop=https://a.test/=60,5"])
        let shop = try #require(tenants.first)
        #expect(shop.name == "shop" && shop.keys.keys.map(\.secret.count) == [16, 16])
        #expect(shop.keys.keys.map(\.salt) == [[1], []])
        #expect(shop.sources?.origins.map(\.absoluteString) == ["https://a.test/x=1/", "s3://bucket/"])
        #expect((shop.requestsPerSecond, shop.burst, shop.queueLimit) == (0.5, 3, 7))
        #expect(shop.lifetimes.count == 1)
    }

    @Test("Options of tenants that can't be read are refused with their text, and never with a key")
    func wrongTexts() throws {
        let file = folder.appending(path: "keys").path
        let empty = folder.appending(path: "empty").path
        try Data(String(repeating: "a1", count: 16).utf8).write(to: URL(filePath: file))
        try Data("# none\r\n\r\n".utf8).write(to: URL(filePath: empty))
        for files in ["shop", "=\(file)", "shop=", "shop=\(empty)", "shop=/nonexistent", "a b=\(file)"] {
            let error = #expect(throws: ServerConfigurationError.self) { try Tenant.tenants([files]) }
            #expect(error?.description.contains("a1a1") == false)
        }
        let error = #expect(throws: ServerConfigurationError.self) { try Tenant.tenants(["shop=\(empty)"]) }
        #expect(error?.description.contains(empty) == true)
        func refuses(
            sources: [String] = [], rates: [String] = [], queues: [String] = [], lifetimes: [String] = []
        ) {
            #expect(throws: ServerConfigurationError.self) {
                try Tenant.tenants(
                    ["shop=\(file)"], sources: sources, rates: rates, queues: queues, lifetimes: lifetimes)
            }
        }
        for text in ["other=https://a.test/", "shop=file:///etc/", "shop", "https://a.test/"] {
            refuses(sources: [text])
        }
        for text in ["shop=nan", "shop=-1", "shop=1,0", "shop=1,2,3", "shop=inf", "shop=", "other=1", "shop=1e9"] {
            refuses(rates: [text])
        }
        for text in ["shop=0", "shop=x", "shop=-1", "shop=99999999999999999999"] { refuses(queues: [text]) }
        for text in ["shop=60", "other=https://a.test=1"] { refuses(lifetimes: [text]) }
    }

    @Test("A response with the fallback has a line in the log of errors, and a count of its own")
    func fallback() async throws {
        let responder = try responder([], keys: nil) { [picture] in $0.fallback = picture }
        #expect(try await status("/thumb/10x10/none.png", responder) == 200)
        #expect(try await status("/thumb/10x10/a.png", responder) == 200)
        #expect(metrics.text.contains("http_fallbacks_total{kind=\"thumb\"} 1\n"))
        await log.flush()
        #expect(lines.withLock { $0.map { $0.contains("the fallback stands in") } } == [true, false])
    }
}
