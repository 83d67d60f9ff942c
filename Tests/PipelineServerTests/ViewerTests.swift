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

@Suite("A viewer gets tiles, sizes and turned parts by the IIIF Image API")
final class ViewerTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "viewer-\(UUID().uuidString)")
    private let channel = NSObject()

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let picture = Picture.png(PixelSize(width: 1300, height: 700), with: [200, 100, 50])
        try Data(picture).write(to: folder.appending(path: "a.png"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A server that has just started, with what earlier ones have stored.
    private func responder(_ dialect: IIIFDialect = IIIFDialect()) throws -> ImageResponder {
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: 16_000_000),
            responses: HTTPCache(folder: folder.appending(path: "cache").path, byteLimit: 16_000_000),
            client: CurlClient(), isolation: .none)
        resources.allowedSources = [.files]
        let configuration = try ServerConfiguration(
            hosts: Hosts(listeningAt: "127.0.0.1"), sources: SourcePolicy(folder: folder.path), keys: nil,
            dialects: [dialect])
        return ImageResponder(configuration, loader: ImageLoader(resources), metrics: NOOPMetricsHandler.instance)
    }

    private func get(_ responder: ImageResponder, _ path: String) async -> ServerResponse {
        await responder.respond(
            to: HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/iiif/a.png/" + path),
            over: ClientConnection(channel, address: "127.0.0.1"))
    }

    private func decodes(_ response: ServerResponse) -> Bool {
        response.head.headerFields.contains {
            $0.name.canonicalName == "server-timing" && $0.value.contains("Decode;")
        }
    }

    private func image(_ response: ServerResponse) async throws -> DecodedImage {
        let list = ImagePipeline {
            ReadInline()
            Decode()
        }
        return try #require(try await list.load(ImageRequest(.bytes(Array(response.body.bytes)))).image)
    }

    @Test("The tiles of a source take one decode together")
    func tiles() async throws {
        let responder = try responder()
        let paths = [
            "0,0,512,512/512,512", "512,0,512,512/512,512", "1024,512,276,188/276,188", "0,0,1024,700/512,350",
        ]
        var decodes = 0
        for path in paths {
            let response = await get(responder, path + "/0/default.png")
            #expect(response.head.status == .ok)
            let size = path.split(separator: "/")[1].split(separator: ",").compactMap { Int($0) }
            #expect(try await image(response).size == PixelSize(width: size[0], height: size[1]))
            if self.decodes(response) { decodes += 1 }
        }
        #expect(decodes == 1)
    }

    @Test("A restarted server finds results of files on disk")
    func restarted() async throws {
        let path = "full/65,35/0/default.png"
        let first = await get(try responder(), path)
        #expect(decodes(first))
        let second = await get(try responder(), path)
        #expect(second.head.status == .ok && !decodes(second))
        #expect(second.body.bytes == first.body.bytes)
        #expect(second.head.headerFields[.eTag] == first.head.headerFields[.eTag])
    }

    @Test(
        "A server of listed sizes gives tiles and sizes of info.json",
        arguments: [
            "full/max/0/default.jpg", "full/1300,700/0/default.jpg", "full/325,175/0/default.webp",
            "full/325,/0/color.jpg", "0,0,512,512/512,512/0/default.jpg", "512,0,512,512/512,/0/default.jpg",
            "1024,512,276,188/276,188/0/default.jpg", "1024,0,276,700/138,350/0/default.jpg",
        ])
    func listed(path: String) async throws {
        let responder = try responder(IIIFDialect(givesListedOnly: true))
        #expect(await get(responder, path).head.status == .ok)
    }

    @Test(
        "A server of listed sizes refuses everything else",
        arguments: [
            "full/1237,/0/default.jpg", "full/max/90/default.jpg", "full/max/!0/default.jpg",
            "full/max/0/gray.jpg", "full/max/0/default.png", "1,0,512,512/512,512/0/default.jpg",
            "0,0,512,512/511,511/0/default.jpg", "0,0,511,512/511,512/0/default.jpg", "square/max/0/default.jpg",
            "full/^2600,1400/0/default.jpg", "pct:0,0,10,10/max/0/default.jpg", "5000,0,512,512/512,512/0/default.jpg",
        ])
    func unlisted(path: String) async throws {
        let responder = try responder(IIIFDialect(givesListedOnly: true))
        #expect(await get(responder, path).head.status == .badRequest)
    }

    @Test("A server of listed sizes announces level 0, and each of its tiles and sizes is served")
    func info() async throws {
        struct Info: Decodable {
            struct Size: Decodable { let width, height: Int }
            struct Tiles: Decodable { let width: Int, scaleFactors: [Int] }
            let profile: String
            let width, height: Int
            let sizes: [Size]
            let tiles: [Tiles]
        }
        let responder = try responder(IIIFDialect(givesListedOnly: true))
        let document = await get(responder, "info.json")
        let info = try JSONDecoder().decode(Info.self, from: Data(document.body.bytes))
        #expect(info.profile == "level0")
        #expect(info.sizes.count == 3)
        for size in info.sizes {
            #expect(await get(responder, "full/\(size.width),\(size.height)/0/default.jpg").head.status == .ok)
        }
        for scale in try #require(info.tiles.first).scaleFactors {
            let side = 512 * scale
            for y in stride(from: 0, to: info.height, by: side) {
                for x in stride(from: 0, to: info.width, by: side) {
                    let (width, height) = (min(side, info.width - x), min(side, info.height - y))
                    let result = "\((width + scale - 1) / scale),\((height + scale - 1) / scale)"
                    let path = "\(x),\(y),\(width),\(height)/\(result)/0/default.jpg"
                    #expect(await get(responder, path).head.status == .ok, "\(path)")
                }
            }
        }
    }

    @Test("The corners of a turned part are black in a JPEG and transparent elsewhere")
    func turned() async throws {
        let responder = try responder()
        let jpeg = try await image(await get(responder, "0,0,400,100/max/288/default.jpg"))
        let png = try await image(await get(responder, "0,0,400,100/max/288/default.png"))
        #expect(jpeg.size == png.size)
        try jpeg.withPixels { #expect($0[0] < 8 && $0[1] < 8 && $0[2] < 8) }
        try png.withPixels { #expect($0[3] == 0) }
    }
}
