import Foundation
import HTTPTypes
import Metrics
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineServer
import PipelineTesting
import Stages
import TestFixtures
import Testing

/// The dialect that the documentation shows.
struct SquareDialect: Dialect {
    let name = "square"

    func signedText(of path: DialectPath) -> SignedText {
        let parts = path.rest.split(separator: "/", maxSplits: 1)
        return SignedText(parts.last ?? "", signature: parts.first)
    }

    func request(_ path: DialectPath) throws(Problem) -> DialectRequest {
        let parts = path.rest.split(separator: "/")
        guard parts.count == 3, let side = Int(parts[1]), 1...512 ~= side else {
            throw Problem(.badRequest, "Write /square/SIGNATURE/SIDE/SOURCE, with a side of 1 to 512.")
        }
        return .picture(
            PictureRequest(source: String(parts[2]), stages: [Resize(width: side, height: side, fit: .cover)]))
    }
}

@Suite("A responder needs no web framework")
final class ImageResponderTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "responder-\(UUID().uuidString)")
    private let keys: SigningKeys
    private let channel = NSObject()

    init() throws {
        keys = try SigningKeys([.init(secret: Array(repeating: 0xA1, count: 16))])
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let picture = Picture.png(PixelSize(width: 40, height: 20), with: [200, 100, 50, 255])
        try Data(picture).write(to: folder.appending(path: "a.png"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func responder(
        _ keys: SigningKeys?, client: CurlClient = CurlClient(),
        change: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> ImageResponder {
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: 1_000_000),
            responses: HTTPCache(folder: folder.appending(path: "cache").path, byteLimit: 1_000_000, isShared: true),
            client: client, isolation: .none)
        resources.allowedSources = [.remote, .files]
        var configuration = try ServerConfiguration(
            hosts: Hosts(listeningAt: "127.0.0.1"), sources: SourcePolicy(folder: folder.path), keys: keys,
            dialects: [SquareDialect(), try ThumbDialect()])
        change(&configuration)
        return ImageResponder(
            configuration, loader: ImageLoader(resources), metrics: NOOPMetricsHandler.instance)
    }

    private func answer(
        _ responder: ImageResponder, _ path: String, method: HTTPRequest.Method = .get, host: String = "localhost",
        _ fields: HTTPFields = [:]
    ) async -> ServerResponse {
        await responder.respond(
            to: HTTPRequest(method: method, scheme: "http", authority: host, path: path, headerFields: fields),
            over: ClientConnection(channel, address: "127.0.0.1"))
    }

    @Test("A dialect of one's own is signed, read and answered as the others are")
    func ownDialect() async throws {
        let responder = try responder(keys)
        let text = "8/a.png"
        let path = "/square/\(keys.signature(of: text))/\(text)"
        let response = await answer(responder, path, [.accept: "image/png"])
        #expect(response.head.status == .ok && response.head.headerFields[.contentType] == "image/png")
        let list = ImagePipeline {
            ReadInline()
            Decode()
        }
        let image = try await list.load(ImageRequest(.bytes(Array(response.body.bytes)))).image
        #expect(image?.size == PixelSize(square: 8))
        #expect(await answer(responder, "/square/AAAA/\(text)").head.status == .forbidden)
        #expect(await answer(responder, "/square/\(keys.signature(of: "9/a.png"))/\(text)").head.status == .forbidden)
        let wrong = "0/a.png"
        let problem = await answer(responder, "/square/\(keys.signature(of: wrong))/\(wrong)")
        #expect(problem.head.status == .badRequest)
        #expect(String(decoding: problem.body.bytes, as: UTF8.self).contains("/square/SIGNATURE/SIDE/SOURCE"))
        #expect(await answer(responder, path, host: "evil.example").head.status == .misdirectedRequest)
        #expect(await answer(responder, "/iiif/a.png/info.json").head.status == .notFound)
    }

    @Test("Gain maps of phones are kept, applied or dropped, as the server is configured")
    func gainMaps() async throws {
        let phone = try Pictures.bytes("good/jpeg-ultrahdr-gainmap-mpf.jpg")
        try Data(phone).write(to: folder.appending(path: "phone.jpg"))
        let expected: [(GainMapHandling?, ImageMetadata.DynamicRange)] = [
            (nil, .gainMap), (.keep, .gainMap), (.apply, .pq), (.drop, .standard),
        ]
        for (handling, range) in expected {
            let responder = try responder(nil) { $0.gainMap = handling }
            let response = await answer(responder, "/thumb/100x100/phone.jpg", [.accept: "image/avif"])
            #expect(response.head.headerFields[.contentType] == "image/avif")
            #expect(try await ImageMetadata(of: Array(response.body.bytes)).dynamicRange == range)
        }
    }

    @Test("A request's target may be a whole URL, and has a path at least")
    func targets() async throws {
        let responder = try responder(nil)
        for target in ["http://localhost/thumb/10x10/a.png", "/thumb/10x10/a.png?x=1", "/thumb/10x10/a.png?"] {
            #expect(await answer(responder, target).head.status == .ok, "\(target)")
        }
        for target in ["http://localhost", "*", "", "thumb/10x10/a.png", "//", "/thumb", "/thumb/"] {
            let status = await answer(responder, target).head.status.code
            #expect([400, 404].contains(status), "\(target): \(status)")
        }
    }

    @Test("Pages of one's own are answered where no picture is, and an error of theirs tells strangers nothing")
    func pages() async throws {
        struct Secret: Error {}
        let responder = try responder(nil) { configuration in
            configuration.pages = { request, _ in
                if request.path == "/broken" { throw Secret() }
                return request.path == "/" ? Reply(Array("hello".utf8), type: "text/plain") : nil
            }
        }
        #expect(await answer(responder, "/").body.bytes == Array("hello".utf8)[...])
        #expect(await answer(responder, "/other").head.status == .notFound)
        let broken = await answer(responder, "/broken")
        #expect(broken.head.status == .internalServerError)
        #expect(!String(decoding: broken.body.bytes, as: UTF8.self).contains("Secret"))
        #expect(responder.answers("/thumb/x") && responder.answers("/health/live") && !responder.answers("/"))
    }

    @Test("No redirect leads out of the source policy, whatever client the loader has")
    func redirects() async throws {
        let (origin, other) = (try ScriptedOrigin(), try ScriptedOrigin())
        let picture = Picture.png(PixelSize(width: 40, height: 20), with: [200, 100, 50, 255])
        origin.route("/a.png") { _ in .init(body: picture) }
        origin.route("/on.png") { _ in .redirect(to: "/a.png") }
        origin.route("/away.png") { [other] _ in .redirect(to: other.url("/a.png").absoluteString) }
        other.route("/a.png") { _ in .init(body: picture) }
        let responder = try responder(nil, client: CurlClient(.init(addresses: .any))) { configuration in
            configuration.sources.origins = [origin.url("/")]
        }
        for (name, status) in [("a", 200), ("on", 200), ("away", 403), ("away", 403)] {
            let path = ThumbDialect.path("10x10", to: origin.url("/\(name).png").absoluteString, signedWith: nil)
            #expect(await answer(responder, path).head.status.code == status, "\(name)")
        }
        #expect(other.log.requests.isEmpty)
    }

    @Test("Keys are replaced while it runs, and one that drains isn't ready")
    func operation() async throws {
        let responder = try responder(keys)
        let path = ThumbDialect.path("10x10", to: "a.png", signedWith: keys)
        #expect(await answer(responder, path).head.status == .ok)
        responder.replaceKeys(try SigningKeys([.init(secret: Array(repeating: 0xB2, count: 16))]))
        #expect(await answer(responder, path).head.status == .forbidden)
        #expect(await answer(responder, "/health/ready").head.status == .ok)
        responder.drain()
        #expect(await answer(responder, "/health/ready").head.status == .serviceUnavailable)
    }

    @Test("A path of one's own making has an expiry")
    func expiry() async throws {
        let responder = try responder(keys)
        for (end, status) in [(4_102_444_800, 200), (1, 403)] {
            let path = ThumbDialect.path("10x10", to: "a.png", signedWith: keys, expires: end)
            #expect(await answer(responder, path).head.status.code == status)
        }
    }

    @Test("No cache keeps a result longer than its path is valid, whatever the origin says")
    func lifetime() async throws {
        let origin = try ScriptedOrigin()
        let picture = Picture.png(PixelSize(width: 40, height: 20), with: [200, 100, 50, 255])
        origin.route("/b.png") { _ in
            .init(
                headers: [
                    .cacheControl: "public, max-age=600, s-maxage=900, stale-if-error=60", .contentType: "image/png",
                ],
                body: picture)
        }
        let client = CurlClient(CurlClient.Options(addresses: try .publicOnly(allowing: ["127.0.0.1"])))
        let responder = try responder(keys, client: client) { [folder] in
            $0.sources = SourcePolicy(folder: folder.path, origins: [origin.url("/")])
        }
        func control(_ source: String, validFor seconds: Int) async throws -> [Substring] {
            let end = Int(Date().timeIntervalSince1970) + seconds
            let path = ThumbDialect.path("10x10", to: source, signedWith: keys, expires: end)
            let response = await answer(responder, path)
            #expect(response.head.status == .ok)
            return try #require(response.head.headerFields[.cacheControl]).split(separator: ", ")
        }
        func seconds(_ directive: Substring) -> Int { Int(directive.split(separator: "=").last ?? "") ?? -1 }
        let file = try await control("a.png", validFor: 60)
        #expect(file.count == 1 && 50...60 ~= seconds(file[0]))
        #expect(try await control("a.png", validFor: 86_400) == ["max-age=3600"])
        let remote = try await control(origin.url("/b.png").absoluteString, validFor: 60)
        #expect(remote.first == "public" && remote.last == "must-revalidate" && remote.count == 4)
        #expect(50...61 ~= seconds(remote[1]) && 50...61 ~= seconds(remote[2]))
        let longer = try await control(origin.url("/b.png").absoluteString, validFor: 700)
        #expect(590...600 ~= seconds(longer[1]) && 690...702 ~= seconds(longer[2]))
    }

    @Test("The response of a cancelled task is kept by no cache")
    func cancelled() async throws {
        let responder = try responder(nil)
        let request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/thumb/10x10/a.png")
        let connection = ClientConnection(channel, address: nil)
        let task = Task { await responder.respond(to: request, over: connection) }
        task.cancel()
        let response = await task.value
        #expect(response.head.status == .ok || response.head.headerFields[.cacheControl] == "no-store")
    }
}
