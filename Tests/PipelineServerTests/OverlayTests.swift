import Foundation
import HTTPTypes
import Metrics
import Pipeline
import PipelineHTTP
import PipelineImages
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineServer

@Suite("A picture of another URL lies over the picture where a path says so")
final class OverlayTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "overlays-\(UUID().uuidString)")
    private let channel = NSObject()
    private let origin: ScriptedOrigin
    private let clock = ManualClock()
    private let red = Picture.png(PixelSize(square: 4), with: [255, 0, 0])
    private let blue = Picture.png(PixelSize(square: 4), with: [0, 0, 255])

    init() throws {
        origin = try ScriptedOrigin()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Picture.png(PixelSize(width: 40, height: 20), with: [255, 255, 255]))
            .write(to: folder.appending(path: "a.png"))
        try Data(red).write(to: folder.appending(path: "mark.png"))
        serve("/mark.png", red)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func serve(_ path: String, _ bytes: [UInt8], _ control: String = "max-age=600") {
        origin.route(path) { _ in .init(headers: [.contentType: "image/png", .cacheControl: control], body: bytes) }
    }

    private func responder(change: (inout ServerConfiguration) throws -> Void = { _ in }) throws -> ImageResponder {
        let cache = HTTPCache(
            folder: folder.appending(path: "cache").path, byteLimit: 10_000_000, isShared: true, clock: clock)
        let curl = CurlClient(CurlClient.Options(addresses: try .publicOnly(allowing: ["127.0.0.1"])))
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: 10_000_000), responses: cache, client: curl, isolation: .none)
        resources.allowedSources = [.remote, .files]
        var configuration = try ServerConfiguration(
            hosts: Hosts(listeningAt: "127.0.0.1"),
            sources: SourcePolicy(folder: folder.path, origins: [origin.url("/")]), keys: nil)
        try change(&configuration)
        return ImageResponder(configuration, loader: ImageLoader(resources), metrics: NOOPMetricsHandler.instance)
    }

    private func send(_ path: String, to responder: ImageResponder) async -> ServerResponse {
        await responder.respond(
            to: HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path),
            over: ClientConnection(channel, address: "127.0.0.1"))
    }

    private func image(_ response: ServerResponse) async throws -> DecodedImage {
        #expect(response.head.status == .ok, "\(String(decoding: response.body.bytes.prefix(300), as: UTF8.self))")
        let list = ImagePipeline {
            ReadInline()
            Decode()
        }
        return try #require(try await list.load(ImageRequest(.bytes(Array(response.body.bytes)))).image)
    }

    private func imgproxy(_ overlay: String, _ options: String = "wm:1:nowe", over source: String = "a.png") -> String {
        let url = Array(overlay.utf8).base64URL
        return "/imgproxy/x/\(options)/wmu:\(url)/plain/local:///\(source)@png"
    }

    private func thumbor(_ overlay: String, _ arguments: String, over source: String = "a.png") -> String {
        "/thumbor/unsafe/filters:watermark(\(overlay),\(arguments)):format(png)/\(source)"
    }

    private var mark: String { origin.url("/mark.png").absoluteString }

    @Test("imgproxy's watermark_url has the place, scale and opacity of watermark, also before it")
    func imgproxyMarks() async throws {
        let responder = try responder()
        func reds(_ path: String) async throws -> [Bool] {
            let image = try await image(send(path, to: responder))
            return [(0, 0), (39, 19), (20, 10), (5, 5)].map { image.pixel($0.0, $0.1) == [255, 0, 0] }
        }
        #expect(try await reds(imgproxy(mark)) == [true, false, false, false])
        #expect(try await reds(imgproxy(mark, "wm:1:soea")) == [false, true, false, false])
        #expect(try await reds(imgproxy(mark, "wm:1:nowe:0:0:0.5")) == [true, false, false, true])
        #expect(try await reds(imgproxy("local:///mark.png")) == [true, false, false, false])
        #expect(try await reds(imgproxy(mark, "w:0")) == [false, false, false, false])
        let half = try await image(send(imgproxy(mark, "wm:0.5:nowe"), to: responder)).pixel(0, 0)
        #expect(half[0] == 255 && 120...135 ~= half[1])
        for wrong in ["wmu:!!!", "wmu:AA=A", "wm:1/wmu:", "wmu:YQ:YQ"] {
            let response = await send("/imgproxy/x/\(wrong)/plain/local:///a.png", to: responder)
            #expect(response.head.status == .badRequest, "\(wrong)")
        }
    }

    @Test("thumbor's watermark lies in pixels or percent from any edge, scaled by a share of the picture")
    func thumborMarks() async throws {
        let responder = try responder()
        func box(_ arguments: String) async throws -> [Int] {
            let image = try await image(send(thumbor(mark, arguments), to: responder))
            #expect(image.size == PixelSize(width: 40, height: 20))
            let places = (0..<20).flatMap { y in (0..<40).map { (x: $0, y: y) } }
                .filter { image.pixel($0.x, $0.y) != [255, 255, 255] }
            return [places.map(\.x).min(), places.map(\.y).min(), places.map(\.x).max(), places.map(\.y).max()]
                .map { $0 ?? -1 }
        }
        for (arguments, expected) in [
            ("0,0,0", [0, 0, 3, 3]), ("3,5,0", [3, 5, 6, 8]), ("-0,-0,0", [36, 16, 39, 19]),
            ("-2,-1,0", [34, 15, 37, 18]), ("center,center,0", [18, 8, 21, 11]), ("50p,25p,50", [20, 5, 23, 8]),
            ("-50p,0,0", [16, 0, 19, 3]), ("0,0,0,50", [0, 0, 19, 19]), ("0,0,0,none,40", [0, 0, 7, 7]),
            ("0,0,0,10,100", [0, 0, 3, 3]), ("0,0,100", [-1, -1, -1, -1]), ("100,0,0", [-1, -1, -1, -1]),
            (" 1 , 1 , 0 , 0 , none", [1, 1, 4, 4]),
        ] { #expect(try await box(arguments) == expected, "\(arguments)") }
        for wrong in [
            "0,0", "0,0,0,0,0,0", "x,0,0", "0,0,-1", "0,0,101", "repeat,0,0", "1.5,0,0", "nan,0,0", "0,0,0,-5",
            "0,0,0,101", "--1,0,0", "p,0,0", "999999999999999999999,0,0",
        ] {
            let response = await send(thumbor(mark, wrong), to: responder)
            #expect(response.head.status == .badRequest, "\(wrong)")
        }
        #expect(await send(thumbor("", "0,0,0"), to: responder).head.status == .badRequest)
        let five = Array(repeating: "watermark(mark.png,0,0,0)", count: 5).joined(separator: ":")
        #expect(await send("/thumbor/unsafe/filters:\(five)/a.png", to: responder).head.status == .badRequest)
    }

    @Test("An overlay is a source of the policy, also after a redirect")
    func policy() async throws {
        let other = try ScriptedOrigin()
        other.route("/mark.png") { [red] _ in .init(headers: [.contentType: "image/png"], body: red) }
        origin.route("/away.png") { [other] _ in .redirect(to: other.url("/mark.png").absoluteString) }
        let responder = try responder()
        for (url, status) in [
            (other.url("/mark.png").absoluteString, 403), (origin.url("/away.png").absoluteString, 403),
            ("http://169.254.169.254/latest/meta-data", 403), ("http://localhost:8080/thumb/10x10/a.png", 403),
            ("file:///etc/passwd", 404), ("data:image/png;base64", 404), ("../a.png", 404), ("/etc/passwd", 404),
            (".hidden", 404),
        ] {
            for path in [imgproxy(url), thumbor(url.percentEncoded, "0,0,0")] {
                let response = await send(path, to: responder)
                #expect(response.head.status.code == status, "\(path)")
                let text = String(decoding: response.body.bytes, as: UTF8.self)
                #expect(text.contains("to lie over it"), "\(path): \(text)")
            }
        }
        #expect(other.log.requests.isEmpty)
    }

    @Test("A picture whose overlay fails is an error that says so, is not kept, and gets no fallback")
    func failures() async throws {
        serve("/text.png", Array("no picture".utf8))
        serve("/huge.png", Picture.png(PixelSize(width: 2500, height: 2000), with: [1, 2, 3]))
        origin.script(
            "/late.png", .init(status: 500),
            .init(headers: [.contentType: "image/png", .cacheControl: "max-age=600"], body: red))
        for hasFallback in [false, true] {
            let responder = try responder { [red] in
                if hasFallback { $0.fallback = red }
                $0.errorMaxAge = .zero
            }
            for (name, statuses) in [("/none.png", [404]), ("/text.png", [415, 422]), ("/huge.png", [422])] {
                let path = imgproxy(origin.url(name).absoluteString)
                for _ in 0..<2 {
                    let response = await send(path, to: responder)
                    #expect(statuses.contains(response.head.status.code), "\(name): \(response.head.status)")
                    #expect(response.head.headerFields[.cacheControl] == "no-store")
                    #expect(String(decoding: response.body.bytes, as: UTF8.self).contains("to lie over it"))
                }
            }
            let main = await send(imgproxy(mark, over: "none.png"), to: responder)
            #expect(main.head.status.code == (hasFallback ? 200 : 404))
            if !hasFallback {
                let path = imgproxy(origin.url("/late.png").absoluteString)
                #expect(await send(path, to: responder).head.status.code == 502)
                #expect(try await image(send(path, to: responder)).pixel(0, 0) == [255, 0, 0])
            }
        }
    }

    @Test("A changed overlay changes the picture, whose source isn't loaded again")
    func changes() async throws {
        let white = Picture.png(PixelSize(width: 40, height: 20), with: [255, 255, 255])
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        origin.route("/photo.png") { _ in
            .init(
                headers: [.contentType: "image/png", .cacheControl: "max-age=86400", .lastModified: date], body: white)
        }
        let fields: HTTPFields = [.contentType: "image/png", .cacheControl: "max-age=60"]
        origin.script("/logo.png", .init(headers: fields, body: red), .init(headers: fields, body: blue))
        let responder = try responder()
        let (logo, photo) = (origin.url("/logo.png").absoluteString, origin.url("/photo.png").absoluteString)
        let path = "/imgproxy/x/wm:1:nowe/wmu:\(Array(logo.utf8).base64URL)/plain/\(photo)@png"
        for _ in 0..<3 {
            let response = await send(path, to: responder)
            #expect(try await image(response).pixel(0, 0) == [255, 0, 0])
            // The date of the source says nothing of the overlay's, and no cache keeps the picture for longer than that.
            #expect(response.head.headerFields[.lastModified] == nil)
            #expect(response.head.headerFields[.cacheControl] == "max-age=60")
        }
        clock.advance(by: .seconds(61))
        #expect(try await image(send(path, to: responder)).pixel(0, 0) == [0, 0, 255])
        #expect(origin.log.requests.filter { $0.path == "/photo.png" }.count == 1)
        #expect(origin.log.requests.filter { $0.path == "/logo.png" }.count == 2)
    }

    @Test("Caches are told what the overlay's origin forbids")
    func cacheControl() async throws {
        serve("/photo.png", red, "public, max-age=600, immutable")
        for (control, expected) in [
            ("private, max-age=300", "private, max-age=0"), ("no-store", "no-store"),
            ("public, max-age=900", "public, max-age=600"),
            ("max-age=300, must-revalidate", "max-age=300, must-revalidate"),
        ] {
            let name = "/\(control.count).png"
            serve(name, blue, control)
            let overlay = Array(origin.url(name).absoluteString.utf8).base64URL
            let source = origin.url("/photo.png").absoluteString
            let response = await send("/imgproxy/x/wm:1/wmu:\(overlay)/plain/\(source)@png", to: try responder())
            #expect(response.head.headerFields[.cacheControl] == expected)
        }
    }

    @Test("An overlay is upright, whatever its file says")
    func orientation() async throws {
        let file = try Pictures.bytes("good/exif-orientation-6.jpg")
        serve("/turned.jpg", file)
        try Data(Picture.png(PixelSize(width: 300, height: 300), with: [255, 255, 255]))
            .write(to: folder.appending(path: "large.png"))
        let list = ImagePipeline {
            ReadInline()
            Decode()
        }
        let upright = try #require(try await list.load(ImageRequest(.bytes(file))).image)
        #expect(upright.height > upright.width)
        let path = thumbor(origin.url("/turned.jpg").absoluteString, "0,0,0", over: "large.png")
        let image = try await image(send(path, to: try responder()))
        for (x, y) in [(0, 0), (upright.width - 1, upright.height - 1)] {
            let (own, expected) = (image.pixel(x, y), upright.pixel(x, y))
            #expect(zip(own, expected).allSatisfy { abs(Int($0) - Int($1)) <= 1 }, "\(x) \(y)")
        }
        #expect(image.pixel(upright.width, 0) == [255, 255, 255])
    }

    @Test("A tenant's signature opens no overlay of another tenant")
    func tenants() async throws {
        serve("/a/mark.png", red)
        serve("/b/mark.png", red)
        serve("/a/photo.png", blue)
        let keys = try SigningKeys([.init(secret: Array(repeating: 0xA1, count: 16))])
        let responder = try responder { [origin] in
            var tenant = try Tenant("a", keys: keys)
            tenant.sources = SourcePolicy(origins: [origin.url("/a/")])
            try $0.setTenants([tenant])
        }
        for (name, status) in [("/a/mark.png", 200), ("/b/mark.png", 403), ("local:///mark.png", 404)] {
            let url = name.hasPrefix("local") ? name : origin.url(name).absoluteString
            let text = "/wm:1/wmu:\(Array(url.utf8).base64URL)/plain/\(origin.url("/a/photo.png").absoluteString)"
            let path = "/imgproxy/\(keys.signature(of: text, isSalted: true))\(text)"
            #expect(await send(path, to: responder).head.status.code == status, "\(name)")
        }
        #expect(!origin.log.requests.contains { $0.path == "/b/mark.png" })
    }
}
