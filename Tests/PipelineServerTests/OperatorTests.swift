import Foundation
import HTTPTypes
import Metrics
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineShared
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineServer

@Suite("What an operator decides of pictures, of origins and of caches")
final class OperatorTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "operator-\(UUID().uuidString)")
    private let channel = NSObject()
    private let origin: ScriptedOrigin
    private let clock = ManualClock()
    private let picture = Picture.png(PixelSize(width: 40, height: 20), with: [200, 100, 50])

    init() throws {
        origin = try ScriptedOrigin()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(picture).write(to: folder.appending(path: "a.png"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func responder(
        dialects: [any Dialect]? = nil, keys: SigningKeys? = nil, client: (any TransferClient)? = nil,
        change: (inout ServerConfiguration) throws -> Void = { _ in }
    ) throws -> ImageResponder {
        let cache = HTTPCache(
            folder: folder.appending(path: "cache").path, byteLimit: 1_000_000, isShared: true, clock: clock)
        let curl = CurlClient(CurlClient.Options(addresses: try .publicOnly(allowing: ["127.0.0.1"])))
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: 1_000_000), responses: cache, client: client ?? curl, isolation: .none)
        resources.allowedSources = [.remote, .files]
        var configuration = try ServerConfiguration(
            hosts: Hosts(listeningAt: "127.0.0.1"),
            sources: SourcePolicy(folder: folder.path, origins: [origin.url("/")]), keys: keys, dialects: dialects)
        try change(&configuration)
        return ImageResponder(configuration, loader: ImageLoader(resources), metrics: NOOPMetricsHandler.instance)
    }

    private func send(
        _ path: String, to responder: ImageResponder, method: String = "GET", _ fields: HTTPFields = [:]
    ) async throws -> ServerResponse {
        let method = try #require(HTTPRequest.Method(method))
        return await responder.respond(
            to: HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path, headerFields: fields),
            over: ClientConnection(channel, address: "127.0.0.1"))
    }

    private func remote(_ name: String, _ options: String = "10x10") -> String {
        ThumbDialect.path(options, to: origin.url(name).absoluteString, signedWith: nil)
    }

    private func image(_ response: ServerResponse) async throws -> DecodedImage {
        let list = ImagePipeline {
            ReadInline()
            Decode()
        }
        return try #require(try await list.load(ImageRequest(.bytes(Array(response.body.bytes)))).image)
    }

    @Test("A picture in Display P3 stays in it, and becomes sRGB where a path of imgproxy or thumbor says so")
    func gamut() async throws {
        try Data(try Pictures.bytes("good/jpeg-icc-display-p3.jpg")).write(to: folder.appending(path: "wide.jpg"))
        func space(_ path: String, _ dialect: any Dialect) async throws -> String {
            let response = try await send(path, to: try responder(dialects: [dialect]))
            #expect(response.head.status == .ok, "\(path)")
            return try await ImageMetadata(of: Array(response.body.bytes)).colorSpaceName
        }
        let imgproxy = try ImgproxyDialect(longestSide: 1000)
        let wide = "plain/local:///wide.jpg@png"
        #expect(try await space("/imgproxy/unsafe/rs:fill:40:40/\(wide)", imgproxy) == "sRGB")
        #expect(try await space("/imgproxy/unsafe/rs:fill:40:40/scp:0/\(wide)", imgproxy) == "Display P3")
        #expect(
            try await space(ThumbDialect.path("40x40", to: "wide.jpg", signedWith: nil), try ThumbDialect())
                == "Display P3")
        let thumbor = ThumborDialect(longestSide: 1000)
        #expect(try await space("/thumbor/unsafe/40x40/wide.jpg", thumbor) == "Display P3")
        #expect(try await space("/thumbor/unsafe/40x40/filters:strip_icc()/wide.jpg", thumbor) == "sRGB")
    }

    @Test("A fallback is made like the picture for which it stands in, and kept for its own time")
    func fallback() async throws {
        origin.route("/missing.png") { _ in .init(status: 404) }
        origin.route("/page.png") { _ in .init(headers: [.contentType: "text/html"], body: Array("<p>".utf8)) }
        let responder = try responder {
            $0.fallback = Picture.png(PixelSize(width: 80, height: 80), with: [1, 2, 3])
            $0.fallbackMaxAge = .seconds(7)
        }
        for path in [remote("/missing.png"), "/thumb/10x10/none.png", remote("/page.png")] {
            let response = try await send(path, to: responder, [.accept: "image/png"])
            #expect(response.head.status == .ok && response.head.headerFields[.cacheControl] == "max-age=7", "\(path)")
            #expect(response.head.headerFields[try #require(HTTPField.Name("Fallback-Image"))] == "1")
            let image = try await image(response)
            #expect(image.size == PixelSize(square: 10) && image.pixels.prefix(3) == [1, 2, 3])
        }
        let real = try await send("/thumb/10x10/a.png", to: responder, [.accept: "image/png"])
        #expect(real.head.headerFields[try #require(HTTPField.Name("Fallback-Image"))] == nil)
        #expect(try await image(real).size == PixelSize(width: 10, height: 5))
        // Descriptions of a picture that there isn't are none of another.
        for path in ["/iiif/none.png/info.json", "/info/none.png"] {
            #expect(try await send(path, to: responder).head.status == .notFound, "\(path)")
        }
        // Neither what isn't allowed nor what can't be read gets a picture.
        #expect(try await send("/thumb/10x10/http%3A%2F%2Fother.test%2Fa.png", to: responder).head.status == .forbidden)
        #expect(try await send("/thumb/nonsense/a.png", to: responder).head.status == .badRequest)
    }

    @Test("With a fallback too, an origin that fails isn't asked again at once", arguments: ["/gone.png", "/text.png"])
    func failures(path: String) async throws {
        origin.route("/gone.png") { _ in .init(status: 500) }
        origin.route("/text.png") { _ in .init(headers: [.contentType: "text/html"], body: Array("<p>".utf8)) }
        let responder = try responder { [picture] in $0.fallback = picture }
        for _ in 0..<5 { #expect(try await send(remote(path), to: responder).head.status == .ok) }
        #expect(origin.log.requests.count == 1)
    }

    @Test("Each origin has its own lifetimes, for pictures and for errors")
    func lifetimes() async throws {
        for name in ["/news/a.png", "/archive/a.png", "/fixed/a.png"] {
            let control = name == "/fixed/a.png" ? "no-cache" : ""
            origin.route(name) { [picture] _ in
                .init(headers: [.contentType: "image/png", .cacheControl: control], body: picture)
            }
        }
        origin.route("/news/none.png") { _ in .init(status: 404) }
        let responder = try responder { [origin] in
            $0.lifetimes = [
                SourceLifetime(origin.url("/news/"), maxAge: .seconds(60), errorMaxAge: .zero),
                SourceLifetime(origin.url("/fixed/"), maxAge: .seconds(90), isFixed: true),
            ]
        }
        for (name, lifetime) in [("/news/a.png", "max-age=60"), ("/archive/a.png", "max-age=3600")] {
            let response = try await send(remote(name), to: responder)
            #expect(response.head.headerFields[.cacheControl] == lifetime, "\(name)")
        }
        for _ in 0..<3 { #expect(try await send(remote("/fixed/a.png"), to: responder).head.status == .ok) }
        #expect(origin.log.requests.filter { $0.path == "/fixed/a.png" }.count == 1)
        for _ in 0..<3 { #expect(try await send(remote("/news/none.png"), to: responder).head.status == .notFound) }
        #expect(origin.log.requests.filter { $0.path == "/news/none.png" }.count == 3)
    }

    @Test(
        "A rule of lifetimes is a URL and its seconds",
        arguments: [
            ("https://a.test/b/=60", 60, nil, false), ("https://a.test/?c=d=60!", 60, nil, true),
            ("http://a.test=5,10", 5, 10, false), ("http://a.test=,0", nil, 0, false),
        ] as [(String, Int?, Int?, Bool)])
    func lifetimeTexts(text: String, maxAge: Int?, errorMaxAge: Int?, isFixed: Bool) throws {
        let rule = try SourceLifetime(parsing: text)
        #expect(rule.maxAge == maxAge.map { .seconds($0) } && rule.errorMaxAge == errorMaxAge.map { .seconds($0) })
        #expect(rule.isFixed == isFixed)
    }

    @Test(
        "A rule of lifetimes that can't be read is refused at the start",
        arguments: [
            "", "60", "=60", "https://a.test", "https://a.test=x", "https://a.test=-1", "https://a.test=1,2,3",
            "ftp://a.test=1", "https://a.test=99999999999", "https:///=1",
        ])
    func wrongLifetimes(text: String) {
        #expect(throws: ServerConfigurationError.self) { try SourceLifetime(parsing: text) }
    }

    @Test("A purge removes a source with its results and its error, from memory and disk")
    func purge() async throws {
        let later = Picture.png(PixelSize(width: 20, height: 40), with: [5, 6, 7])
        let fields: HTTPFields = [.contentType: "image/png", .cacheControl: "max-age=600"]
        origin.script("/b.png", .init(headers: fields, body: picture), .init(headers: fields, body: later))
        origin.script("/c.png", .init(status: 404), .init(headers: fields, body: later))
        let token = "a token of 24 characters"
        let responder = try responder { $0.purgeToken = token }
        func size() async throws -> PixelSize { try await image(send(remote("/b.png"), to: responder)).size }
        for _ in 0..<2 { #expect(try await size() == PixelSize(width: 10, height: 5)) }
        for wrong in [nil, "", "Bearer", "Bearer wrong", "Basic \(token)"] {
            let response = try await send(
                remote("/b.png"), to: responder, method: "PURGE", wrong.map { [.authorization: $0] } ?? [:])
            #expect(response.head.status == .unauthorized, "\(wrong ?? "nothing")")
            #expect(response.head.headerFields[.wwwAuthenticate] == "Bearer")
        }
        #expect(try await size() == PixelSize(width: 10, height: 5))
        func purge(_ path: String) async throws -> Int {
            try await send(path, to: responder, method: "PURGE", [.authorization: "bearer \(token)"]).head.status.code
        }
        // The path of any size of it removes all of them.
        #expect(try await purge(remote("/b.png", "30x30,cover")) == 204)
        #expect(try await size() == PixelSize(width: 5, height: 10))
        #expect(try await send(remote("/c.png"), to: responder).head.status == .notFound)
        #expect(try await purge(remote("/c.png")) == 204)
        #expect(try await send(remote("/c.png"), to: responder).head.status == .ok)
        #expect(try await purge("/thumb/10x10/a.png") == 204)
        #expect(try await purge("/other") == 404)
        #expect(try await purge("/thumb/nonsense/a.png") == 400)
        #expect(try await purge("/thumb/10x10/https%3A%2F%2Fother.test%2Fa.png") == 403)
    }

    @Test("Without a token nobody purges")
    func noPurge() async throws {
        let responder = try responder()
        for field in ["Bearer ", "Bearer nil", ""] {
            let response = try await send(
                "/thumb/10x10/a.png", to: responder, method: "PURGE", [.authorization: field])
            #expect(response.head.status == .notImplemented)
        }
    }

    @Test("Objects of an allowed bucket are sources, and those of others aren't")
    func objects() async throws {
        origin.route("/bucket/photos/a.png") { [picture] _ in .init(headers: [.contentType: "image/png"], body: picture)
        }
        let endpoint = try S3Endpoint(origin.url("/").absoluteString)
        let client = SignedForS3(CurlClient(), at: endpoint, clock: clock) { .init(accessKey: "k", secretKey: "s") }
        let responder = try responder(client: client) {
            $0.sources = try SourcePolicy(folder: nil, prefixes: ["s3://bucket/photos/"])
        }
        for (name, status) in [("bucket/photos/a.png", 200), ("bucket/other/a.png", 403), ("other/photos/a.png", 403)] {
            let path = ThumbDialect.path("10x10", to: "s3://\(name)", signedWith: nil)
            #expect(try await send(path, to: responder).head.status.code == status, "\(name)")
            let own = "/imgproxy/x/w:10/plain/s3://\(name)"
            #expect(try await send(own, to: responder).head.status.code == status, "\(name)")
        }
        #expect(origin.log.requests.count == 1)
        #expect(origin.log.requests.first?.headers[.authorization]?.hasPrefix("AWS4-HMAC-SHA256 ") == true)
    }

    @Test("Formats have qualities and sizes where a path names none")
    func formats() async throws {
        let responder = try responder {
            $0.sizes = [.avif: 0...60]
            $0.qualities = [.webp: 10]
        }
        func type(_ options: String) async throws -> String? {
            try await send("/thumb/\(options)/a.png", to: responder, [.accept: "image/avif,image/webp"])
                .head.headerFields[.contentType]
        }
        #expect(try await type("10x10") == "image/avif")
        #expect(try await type("20x20") == "image/webp")
        #expect(try await type("20x20,format=avif") == "image/avif")
        func bytes(_ options: String) async throws -> Int {
            try await send("/thumb/\(options)/a.png", to: responder, [.accept: "image/webp"]).body.bytes.count
        }
        #expect(try await bytes("40x40") == bytes("40x40,q=10"))
    }

    @Test("The watermark is laid over results of both dialects, and refused where there is none")
    func watermark() async throws {
        let mark = Watermark(
            DecodedImage(
                size: PixelSize(square: 2), layout: .rgb,
                pixels: Array(repeating: [0, 0, 255], count: 4).flatMap { $0 }))
        let responder = try responder(dialects: [
            try ThumbDialect(presets: ["marked": "watermark=northWest"], watermark: mark),
            try ImgproxyDialect(watermark: mark),
        ])
        func blue(_ path: String) async throws -> [Bool] {
            let image = try await image(send(path, to: responder))
            return [(0, 0), (9, 4), (4, 2)].map { image.pixel($0.0, $0.1) == [0, 0, 255] }
        }
        let ends = [
            ("thumb/10x10,format=png,watermark", [false, true, false]),
            ("thumb/10x10,format=png,marked", [true, false, false]),
        ]
        for (path, expected) in ends { #expect(try await blue("/\(path)/a.png") == expected, "\(path)") }
        let paths = [
            ("wm:1:soea", [false, true, false]), ("wm:1:nowe", [true, false, false]), ("wm:1", [false, false, true]),
            ("wm:1:re", [true, true, true]), ("wm:1:soea:1:1", [false, false, false]),
            ("wm:1:ce:0:0:1", [false, false, true]), ("wm:1:nowe:-1:-1", [true, false, false]),
        ]
        for (option, expected) in paths {
            #expect(try await blue("/imgproxy/x/w:10/\(option)/plain/local:///a.png@png") == expected, "\(option)")
        }
        let none = try self.responder()
        for path in ["/thumb/10x10,watermark/a.png", "/imgproxy/x/wm:1/plain/local:///a.png"] {
            #expect(try await send(path, to: none).head.status == .badRequest)
        }
    }

    @Test("A trusted signature is good for any path until it is taken from the list")
    func trusted() async throws {
        let text = "trusted:migration\n" + String(repeating: "a1", count: 16)
        let responder = try responder(keys: try SigningKeys(file: text))
        let path = "w:10/plain/local:///a.png"
        #expect(try await send("/imgproxy/migration/\(path)", to: responder).head.status == .ok)
        #expect(try await send("/imgproxy/migrating/\(path)", to: responder).head.status == .forbidden)
        responder.replaceKeys(try SigningKeys(file: String(repeating: "a1", count: 16)))
        #expect(try await send("/imgproxy/migration/\(path)", to: responder).head.status == .forbidden)
    }
}
