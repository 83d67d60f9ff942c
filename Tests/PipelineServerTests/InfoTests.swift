import Foundation
import HTTPTypes
import Metrics
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineServer
import PipelineTesting
import Stages
import Testing

@Suite("Facts of a source are JSON")
final class InfoTests {
    private struct Facts: Decodable, Equatable {
        let format: String
        let width, height, frames, bytes: Int
        let hasAlpha: Bool
        let thumbhash: String
        let colors: [String]
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "info-\(UUID().uuidString)")
    private let channel = NSObject()
    private let keys: SigningKeys

    init() throws {
        keys = try SigningKeys([.init(secret: Array(repeating: 0xA1, count: 16))])
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func responder(_ keys: SigningKeys? = nil) throws -> ImageResponder {
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: 1_000_000),
            responses: HTTPCache(folder: folder.appending(path: "cache").path, byteLimit: 1_000_000),
            client: CurlClient(), isolation: .none)
        resources.allowedSources = [.files]
        let configuration = try ServerConfiguration(
            hosts: Hosts(listeningAt: "127.0.0.1"), sources: SourcePolicy(folder: folder.path), keys: keys)
        return ImageResponder(configuration, loader: ImageLoader(resources), metrics: NOOPMetricsHandler.instance)
    }

    private func get(_ responder: ImageResponder, _ path: String, _ fields: HTTPFields = [:]) async -> ServerResponse {
        await responder.respond(
            to: HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path, headerFields: fields),
            over: ClientConnection(channel, address: "127.0.0.1"))
    }

    private func facts(_ response: ServerResponse) throws -> Facts {
        try JSONDecoder().decode(Facts.self, from: Data(response.body.bytes))
    }

    @Test("The facts of a picture, and the fields that caches and pages of other origins need")
    func picture() async throws {
        let file = Picture.png(PixelSize(width: 40, height: 20), with: [200, 100, 50])
        try Data(file).write(to: folder.appending(path: "a.png"))
        let responder = try responder()
        let response = await get(responder, "/info/a.png")
        #expect(response.head.status == .ok)
        let fields = response.head.headerFields
        #expect(fields[.contentType] == "application/json")
        #expect(fields[.cacheControl]?.contains("max-age=") == true)
        #expect(fields[.accessControlAllowOrigin] == "*")
        let facts = try facts(response)
        #expect(facts.format == "image/png" && facts.width == 40 && facts.height == 20)
        #expect(facts.frames == 1 && facts.bytes == file.count && !facts.hasAlpha)
        #expect(facts.colors == ["#c86432"])
        let placeholder = try DecodedImage(thumbHash: facts.thumbhash)
        #expect(placeholder.width > placeholder.height)
        let tag = try #require(fields[.eTag])
        #expect(await get(responder, "/info/a.png", [.ifNoneMatch: tag]).head.status == .notModified)
        // A second server finds the text on disk.
        #expect(try self.facts(await get(try self.responder(), "/info/a.png")) == facts)
    }

    @Test("A picture with transparency says so, and its colours are those that are seen")
    func transparent() async throws {
        let file = Picture.png(PixelSize(width: 8, height: 8), with: [10, 20, 30, 0])
        try Data(file).write(to: folder.appending(path: "clear.png"))
        let facts = try facts(await get(try responder(), "/info/clear.png"))
        #expect(facts.hasAlpha && facts.colors.isEmpty)
    }

    @Test("A path is signed by its query, and a missing or malformed source is an error")
    func access() async throws {
        try Data(Picture.png(PixelSize(square: 4), with: [1, 2, 3])).write(to: folder.appending(path: "a.png"))
        try Data("no picture".utf8).write(to: folder.appending(path: "a.txt"))
        let responder = try responder(keys)
        let path = InfoDialect.path(to: "a.png", signedWith: keys)
        #expect(await get(responder, path).head.status == .ok)
        #expect(await get(responder, "/info/a.png").head.status == .forbidden)
        #expect(await get(responder, path + "&x=1").head.status == .badRequest)
        #expect(
            await get(responder, InfoDialect.path(to: "a.png", signedWith: keys, expires: 1)).head.status == .forbidden)
        let later = InfoDialect.path(to: "a.png", signedWith: keys, expires: 4_102_444_800)
        #expect(await get(responder, later).head.status == .ok)
        let open = try self.responder()
        for (path, status) in [("", 400), ("%zz", 400), ("b.png", 404), ("../a.png", 404), ("a.txt", 422)] {
            #expect(await get(open, "/info/\(path)").head.status.code == status, "\(path)")
        }
    }

    @Test("A path of thumbor is signed as thumbor signs, and gives a picture")
    func thumbor() async throws {
        try Data(Picture.png(PixelSize(width: 40, height: 20), with: [9, 9, 9])).write(
            to: folder.appending(path: "a.png"))
        let responder = try responder(keys)
        let path = ThumborDialect.path("10x10/filters:format(png)", to: "a.png", signedWith: keys)
        let response = await get(responder, path)
        #expect(response.head.status == .ok && response.head.headerFields[.contentType] == "image/png")
        #expect(await get(responder, "/thumbor/unsafe/10x10/a.png").head.status == .forbidden)
        #expect(await get(responder, path.replacing("10x10", with: "11x10")).head.status == .forbidden)
        #expect(await get(try self.responder(), "/thumbor/unsafe/10x10/a.png").head.status == .ok)
    }
}
