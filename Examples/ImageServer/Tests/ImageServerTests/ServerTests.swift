import Foundation
import HTTPTypes
import PipelineTesting
import Stages
import Synchronization
import Testing

@testable import ImageServer
@testable import PipelineServer

@Suite("A running server", .timeLimit(.minutes(5)))
final class ServerTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "pictures-\(UUID().uuidString)")
    private let picture = Picture.png(PixelSize(width: 400, height: 300), with: [200, 40, 90])

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(picture).write(to: folder.appending(path: "a.png"))
        try Data(Picture.png(PixelSize(width: 600, height: 300))).write(to: folder.appending(path: "large.png"))
        try Data("no picture".utf8).write(to: folder.appending(path: "broken.png"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private var open: [String] { ["--unsigned", "--folder", folder.path] }

    private func size(_ body: [UInt8]) async throws -> PixelSize {
        try await ImagePipeline {
            ReadInline()
            Decode()
        }.load(ImageRequest(.bytes(body))).size ?? PixelSize(square: 0)
    }

    @Test("The client's Accept decides the format, and caches are told")
    func negotiation() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            for (accept, type) in [
                ("image/avif,image/webp,*/*", "image/avif"), ("image/webp,*/*", "image/webp"), ("*/*", "image/jpeg"),
            ] {
                let answer = try await server.get("/thumb/100x100/a.png", [.accept: accept])
                #expect(answer.fields[.contentType] == type)
                #expect(answer.fields[.vary]?.hasPrefix("Accept, ") == true)
                #expect(try await size(answer.body) == PixelSize(width: 100, height: 75))
            }
            let fixed = try await server.get("/imgproxy/any/rs:fill:50:40/plain/a.png@png")
            #expect(fixed.fields[.contentType] == "image/png")
            #expect(fixed.fields[.vary] == nil)
            #expect(try await size(fixed.body) == PixelSize(width: 50, height: 40))
        }
    }

    @Test("A picture that the client has is a 304, HEAD has no body, and parts are 206")
    func conditions() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            let path = "/iiif/a.png/full/100,/0/default.jpg"
            let whole = try await server.get(path)
            let tag = try #require(whole.fields[.eTag])
            #expect(whole.status == 200 && whole.fields[.cacheControl] == "max-age=3600")
            #expect(whole.fields[.contentDisposition] == "inline; filename=\"a.jpg\"")
            let known = try await server.get(path, [.ifNoneMatch: "\"x\", W/\(tag)"])
            #expect(known.status == 304 && known.body.isEmpty && known.fields[.eTag] == tag)
            let head = try await server.get(path, method: .head)
            #expect(head.status == 200 && head.body.isEmpty && head.fields[.contentLength] == "\(whole.body.count)")
            let part = try await server.get(path, [.range: "bytes=2-9", .ifRange: tag])
            #expect(part.status == 206 && part.body == Array(whole.body[2..<10]))
            #expect(part.fields[.contentRange] == "bytes 2-9/\(whole.body.count)")
            #expect(try await server.get(path, [.range: "bytes=2-9", .ifRange: "\"x\""]).status == 200)
            #expect(try await server.get(path, [.range: "bytes=999999-"]).status == 416)
        }
    }

    @Test("Equal requests have equal tags, until the file changes")
    func changedFile() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            let path = "/thumb/50x50/a.png"
            let (first, second) = (try await server.get(path), try await server.get(path))
            #expect(second.fields[.eTag] == first.fields[.eTag] && second.body == first.body)
            try Data(Picture.png(PixelSize(width: 300, height: 300))).write(to: folder.appending(path: "a.png"))
            let changed = try await server.get(path, [.ifNoneMatch: first.fields[.eTag] ?? ""])
            #expect(changed.status == 200 && changed.body != first.body)
            #expect(try await size(changed.body) == PixelSize(square: 50))
        }
    }

    @Test(
        "A source whose header takes too long is given up, for info.json as for pictures", .timeLimit(.minutes(1)))
    func time() async throws {
        let (clock, endless) = (ManualClock(), Endless())
        let codec = ImageCodec(.png, extensions: ["png"], decoder: endless) { $0.starts(with: [0x89, 0x50]) }
        try await withServer(open + ["--decode-seconds", "5"], codecs: [codec], clock: clock) {
            (server: RunningServer) async throws in
            for path in ["/iiif/a.png/info.json", "/thumb/50x50/a.png"] {
                let before = endless.begun.load(ordering: .relaxed)
                async let answer = server.get(path)
                while endless.begun.load(ordering: .relaxed) == before { await Task.yield() }
                clock.advance(by: .seconds(6))
                #expect(try await answer.status == 422)
            }
        }
    }

    /// Reads headers until it is told to stop.
    private final class Endless: ImageDecoding {
        let begun = Atomic<Int>(0)

        func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
            begun.add(1, ordering: .relaxed)
            while true { try cancellation.check() }
        }

        func decode(
            _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions,
            cancellation: WorkCancellation
        ) throws -> DecodedImage { throw CancellationError() }
    }

    @Test("Errors are problem documents with the right status")
    func problems() async throws {
        let origin = try ScriptedOrigin()
        origin.route("/gone.png") { _ in .init(status: 410) }
        origin.route("/failing.png") { _ in .init(status: 500) }
        origin.route("/loop.png") { _ in .redirect(to: "/loop.png") }
        origin.route("/busy.png") { _ in .init(status: 503, headers: [.retryAfter: "7"]) }
        origin.route("/text.png") { _ in .init(headers: [.contentType: "text/html"], body: "<html>") }
        try await withServer(open + ["--allow", origin.url("/").absoluteString, "--pixels", "150000"]) {
            (server: RunningServer) async throws in
            func path(_ url: URL) -> String { "/thumb/10x10/" + url.absoluteString.percentEncoded }
            for (path, status) in [
                ("/thumb/0x0/a.png", 400), ("/nothing", 404), ("/thumb/10x10/missing.png", 404),
                ("/thumb/10x10/..%2Fa.png", 404), ("/thumb/10x10/https%3A%2F%2Fexample.com%2Fa.png", 403),
                ("/iiif/a.png/full/500,/0/default.jpg", 400), ("/iiif/a.png/900,900,5,5/max/0/default.jpg", 400),
                ("/thumb/10x10/large.png", 422), ("/thumb/10x10/broken.png", 422), (path(origin.url("/gone.png")), 404),
                (path(origin.url("/failing.png")), 502), (path(origin.url("/busy.png")), 503),
                (path(origin.url("/text.png")), 415), (path(origin.url("/loop.png")), 502),
            ] {
                let answer = try await server.get(path)
                #expect(answer.status == status, "\(path): \(answer.text)")
                #expect(answer.fields[.contentType] == "application/problem+json")
                #expect(!answer.text.contains(folder.path))
            }
            #expect(try await server.get(path(origin.url("/busy.png"))).fields[.retryAfter] == "7")
            let method = try await server.get("/thumb/10x10/a.png", method: .delete)
            #expect(method.status == 405 && method.fields[.allow] == "GET, HEAD, OPTIONS")
            #expect(try await server.get("/thumb/1x1/a.png", method: .options).status == 204)
        }
    }

    @Test(
        "A remote file of a format that the server reads in confinement alone is served, as it is declared",
        arguments: [("svg-shapes.svg", "image/svg+xml"), ("jxl.jxl", "image/jxl")])
    func confinedFormats(name: String, type: String) async throws {
        let origin = try ScriptedOrigin()
        let file = URL(filePath: #filePath).appending(path: "../../../../../Tests/Images/good/\(name)")
        let bytes = [UInt8](try Data(contentsOf: file.standardizedFileURL))
        origin.route("/\(name)") { _ in .init(headers: [.contentType: type], body: bytes) }
        try await withServer(open + ["--allow", origin.url("/").absoluteString]) {
            (server: RunningServer) async throws in
            let path = "/thumb/20x20/" + origin.url("/\(name)").absoluteString.percentEncoded
            let answer = try await server.get(path, [.accept: "image/png"])
            #expect(answer.status == 200 && answer.fields[.contentType] == "image/png", "\(answer.text)")
            let size = try await size(answer.body)
            #expect(max(size.width, size.height) == 20)
        }
    }

    @Test("Addresses of the own network are refused unless allowed")
    func addresses() async throws {
        let origin = try ScriptedOrigin()
        let picture = picture
        origin.route("/a.png") { _ in .init(body: picture) }
        try await withServer(open + ["--allow", "http://127.0.0.2:\(origin.port)/"]) {
            (server: RunningServer) async throws in
            let url = origin.url("/a.png", host: "127.0.0.2").absoluteString.percentEncoded
            #expect(try await server.get("/thumb/10x10/\(url)").status == 403)
            #expect(origin.log.requests.isEmpty)
        }
    }

    @Test("A redirect doesn't lead to a URL that isn't allowed, and nothing is fetched from there")
    func redirects() async throws {
        let (origin, other, picture) = (try ScriptedOrigin(), try ScriptedOrigin(), picture)
        other.route("/a.png") { _ in .init(body: picture) }
        origin.route("/open/away.png") { [other] _ in .redirect(to: other.url("/a.png").absoluteString) }
        origin.route("/open/up.png") { _ in .redirect(to: "/a.png") }
        origin.route("/open/on.png") { _ in .redirect(to: "/open/a.png") }
        for path in ["/a.png", "/open/a.png"] { origin.route(path) { _ in .init(body: picture) } }
        try await withServer(open + ["--allow", origin.url("/open/").absoluteString]) {
            (server: RunningServer) async throws in
            for (path, status) in [("away", 403), ("up", 403), ("on", 200)] {
                let url = origin.url("/open/\(path).png").absoluteString.percentEncoded
                #expect(try await server.get("/thumb/10x10/\(url)").status == status)
                #expect(try await server.get("/iiif/\(url)/info.json").status == status)
            }
        }
        #expect(other.log.requests.isEmpty)
        #expect(!origin.log.requests.map(\.target).contains("/a.png"))
    }

    @Test("A picture that is opened as a page runs nothing")
    func policies() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            for path in ["/thumb/10x10/a.png", "/iiif/a.png/full/max/0/default.jpg"] {
                let answer = try await server.get(path)
                #expect(answer.status == 200)
                #expect(answer.fields[.contentSecurityPolicy] == "default-src 'none'; sandbox")
                #expect(answer.fields[.xContentTypeOptions] == "nosniff")
            }
        }
    }

    @Test("Results live as long as their source, and say how old they are")
    func freshness() async throws {
        let origin = try ScriptedOrigin()
        let (picture, clock) = (picture, ManualClock())
        origin.route("/a.png") { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture) }
        origin.route("/private.png") { _ in .init(headers: [.cacheControl: "no-store"], body: picture) }
        try await withServer(open + ["--allow", origin.url("/").absoluteString], clock: clock) {
            (server: RunningServer) async throws in
            let path = "/thumb/10x10/" + origin.url("/a.png").absoluteString.percentEncoded
            _ = try await server.get(path)
            clock.advance(by: .seconds(20))
            let later = try await server.get(path)
            #expect(later.fields[.age] == "20" && later.fields[.cacheControl] == "max-age=60")
            #expect(later.fields[HTTPField.Name.name("Server-Timing")]?.contains("MemoryLookup") == true)
            #expect(origin.log.requests.count == 1)
            let secret = "/thumb/10x10/" + origin.url("/private.png").absoluteString.percentEncoded
            #expect(try await server.get(secret).fields[.cacheControl] == "no-store")
        }
    }

    @Test("Signed paths are served until they expire, and no others")
    func signatures() async throws {
        let file = folder.appending(path: "keys")
        try Data(String(repeating: "a1", count: 16).utf8).write(to: file)
        let clock = ManualClock()
        let end = Int(clock.now.timeIntervalSince1970) + 60
        let keys = try SigningKeys([.init(secret: Array(repeating: 0xA1, count: 16))])
        func signature(_ text: String) -> String { keys.signature(of: text) }
        let thumb = "/thumb/10x10/a.png?expires=\(end)"
        let rest = "/w:10/exp:\(end)/plain/a.png"
        let paths = [
            "\(thumb)&signature=\(signature(thumb))", "/imgproxy/\(signature(rest))\(rest)",
            "/iiif/\(end).\(signature("\(end)/a.png"))/a.png/full/10,/0/default.jpg",
        ]
        try await withServer(["--folder", folder.path, "--keys-file", file.path], clock: clock) {
            (server: RunningServer) async throws in
            for path in paths { #expect(try await server.get(path).status == 200, "\(path)") }
            for path in paths {
                let other = path.replacingOccurrences(of: "a.png", with: "b.png")
                #expect(try await server.get(other).status == 403, "\(other)")
            }
            #expect(try await server.get("/thumb/10x10/a.png").status == 403)
            #expect(try await server.get("/imgproxy/unsafe/plain/a.png").status == 403)
            #expect(try await server.get("/iiif/a.png/info.json").status == 403)
            clock.advance(by: .seconds(61))
            for path in paths { #expect(try await server.get(path).status == 403, "\(path)") }
        }
    }

    @Test("The gallery leaves out what no path can name")
    func names() async throws {
        for name in ["http:evil.jpg", "a\nb.jpg", ".hidden.jpg"] {
            try Data(picture).write(to: folder.appending(path: name))
        }
        try await withServer(open + ["--gallery"]) { (server: RunningServer) async throws in
            let page = try await server.get("/").text
            #expect(page.contains("large.png"))
            for name in ["evil", ".hidden", "b.jpg"] { #expect(!page.contains(name), "\(name)") }
        }
    }

    @Test("The gallery works without a script, and with signed paths")
    func gallery() async throws {
        let file = folder.appending(path: "keys")
        try Data(String(repeating: "a1", count: 16).utf8).write(to: file)
        for options in [open, ["--folder", folder.path, "--keys-file", file.path]] {
            try await withServer(options + ["--gallery"]) { (server: RunningServer) async throws in
                let page = try await server.get("/")
                #expect(page.status == 200 && page.fields[.contentType] == "text/html; charset=utf-8")
                #expect(try await server.get("/", [.ifNoneMatch: page.fields[.eTag] ?? ""]).status == 304)
                let image = try #require(page.text.firstMatch(of: /alt="Large" src="([^"]+)"/))
                #expect(try await server.get(String(image.1)).status == 200)
                let link = try #require(page.text.firstMatch(of: /href="([^"]+)" data-name="large.png"/))
                let viewer = try await server.get(String(link.1)).text
                let base = try #require(viewer.firstMatch(of: /data-iiif="([^"]+)"/)).1
                #expect(try await server.get(base + "/info.json").text.contains("\"width\":600,\"height\":300"))
                let screen = try #require(viewer.firstMatch(of: /id="base" alt="Large" src="([^"]+)"/))
                #expect(try await server.get(String(screen.1)).status == 200)
                let traces = try await server.get("/traces.json").text
                #expect(traces.contains("large.png\"") && traces.contains("\"status\":200"), "\(traces.prefix(400))")
                for path in ["/traces", "/gallery.js", "/viewer.js", "/traces.js", "/gallery.css", "/favicon.svg"] {
                    #expect(try await server.get(path).status == 200, "\(path)")
                }
                #expect(try await server.get("/viewer?name=other.png").status == 404)
            }
            try await withServer(options) { (server: RunningServer) async throws in
                #expect(try await server.get("/").status == 404)
                #expect(try await server.get("/traces.json").status == 404)
            }
        }
    }

    @Test("The gallery has placeholders and sizes once they are known, and its page waits for none")
    func placeholders() async throws {
        try await withServer(open + ["--gallery"]) { (server: RunningServer) async throws in
            var pictures = ""
            while !pictures.contains(/"details":"600 × 300 · PNG · [0-9]+ KB"/) {
                #expect(try await server.get("/").text.contains(#"data-name="large.png""#))
                pictures = try await server.get("/pictures.json").text
            }
            let hash = try #require(try await server.get("/").text.firstMatch(of: /"large.png" data-hash="([^"]+)"/)).1
            #expect(hash.count > 20)
        }
    }

    @Test("Health, metrics and the limit of requests")
    func operation() async throws {
        try await withServer(open + ["--rate", "0.001", "--burst", "2"]) { (server: RunningServer) async throws in
            #expect(try await server.get("/health/live").status == 200)
            #expect(try await server.get("/health/ready").status == 200)
            for _ in 0..<2 { #expect(try await server.get("/thumb/10x10/a.png").status == 200) }
            let refused = try await server.get("/thumb/10x10/a.png")
            #expect(refused.status == 429 && refused.fields[.retryAfter] != nil)
            let metrics = try await server.get("/metrics").text
            for name in ["memory_bytes", "disk_bytes", "decoder_deaths_total", "build_info", "confined"] {
                #expect(metrics.contains("# HELP pipeline_\(name) "), "\(name)")
                #expect(metrics.contains("\npipeline_\(name)"), "\(name)")
            }
            #expect(metrics.contains("http_requests_total{kind=\"thumb\",outcome=\"429\"} 1\n"))
            #expect(metrics.contains("pipeline_hits{source=\"memory\"} 1\n"))
            #expect(metrics.contains("\npipeline_misses 1\n") && metrics.contains("# HELP http_requests_total "))
            #expect(metrics.contains("\nprocess_resident_memory_bytes ") && metrics.contains("\nhttp_queue 0"))
        }
    }
}
