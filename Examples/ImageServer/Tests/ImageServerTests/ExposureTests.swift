import Foundation
import HTTPTypes
import PipelineTesting
import Stages
import Synchronization
import Testing

@testable import ImageServer
@testable import PipelineServer

@Suite("A server that strangers ask", .timeLimit(.minutes(5)))
final class ExposureTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "exposed-\(UUID().uuidString)")
    private let picture = Picture.png(PixelSize(width: 400, height: 300), with: [200, 40, 90])
    private let keys: SigningKeys

    init() throws {
        keys = try SigningKeys([.init(secret: Array(repeating: 0xA1, count: 16))])
        try FileManager.default.createDirectory(
            at: folder.appending(path: "pictures"), withIntermediateDirectories: true)
        try Data(picture).write(to: folder.appending(path: "pictures/a.png"))
        try Data("root:x:0:0".utf8).write(to: folder.appending(path: "secret"))
        try Data(String(repeating: "a1", count: 16).utf8).write(to: folder.appending(path: "keys"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private var pictures: String { folder.appending(path: "pictures").path }
    private var open: [String] { ["--unsigned", "--folder", pictures] }
    private var signed: [String] { ["--folder", pictures, "--keys-file", folder.appending(path: "keys").path] }

    private func thumb(_ options: String, _ source: String = "a.png") throws -> String {
        let path = "/thumb/\(options)/\(source.percentEncoded)"
        return "\(path)?signature=\(keys.signature(of: path))"
    }

    @Test("One signed URL has at most ten results, however its clients spell Accept")
    func accept() async throws {
        try await withServer(signed + ["--rate", "0"]) { (server: RunningServer) async throws in
            let path = try thumb("60x60")
            var random = SystemRandomNumberGenerator()
            var tags = Set<String>()
            var loads = 0
            for _ in 0..<300 {
                let field = ["avif", "webp", "jpeg", "png", "gif", "*"].filter { _ in Bool.random(using: &random) }
                    .map { "image/\($0);q=0.\(Int.random(in: 0...999, using: &random))" }.joined(separator: ",")
                let answer = try await server.get(path, [.accept: field])
                #expect(answer.status == 200)
                tags.insert(answer.fields[.eTag] ?? "")
                let times = answer.fields[HTTPField.Name.name("Server-Timing")] ?? ""
                if times.contains("Encode;") { loads += 1 }
            }
            #expect(tags.count <= 5)
            #expect(loads <= 10, "\(loads) encodings")
        }
    }

    @Test("A text of a file, of an origin or of the library is in no response, and nothing outside of the folder")
    func secrets() async throws {
        let origin = try ScriptedOrigin()
        origin.route("/text") { _ in .init(body: "TOPSECRET of the origin") }
        try Data("TOPSECRET".utf8).write(to: folder.appending(path: "pictures/secret.txt"))
        for (name, target) in [("link.txt", "../secret"), ("link.png", "../outside.png"), ("up", "..")] {
            try FileManager.default.createSymbolicLink(
                atPath: pictures + "/" + name, withDestinationPath: target)
        }
        try Data(picture).write(to: folder.appending(path: "outside.png"))
        let names = [
            "link.txt", "secret.txt", "link.png", "up/outside.png", origin.url("/text").absoluteString,
            origin.url("/gone").absoluteString, "http://localhost:1/a.png",
        ]
        let options = open + ["--allow", origin.url("/").absoluteString, "--allow", "http://localhost:1/"]
        try await withServer(options) { (server: RunningServer) async throws in
            for name in names {
                let answer = try await server.get("/thumb/10x10/" + name.percentEncoded)
                #expect(answer.status >= 400, "\(name)")
                for text in ["root", "TOPSECRET", "127.0.0.1", "Check", "maximum", "Swift", "addresses"] {
                    #expect(!answer.text.contains(text), "\(name): \(answer.text)")
                }
            }
        }
        try await withServer(open + ["--follow-links"]) { (server: RunningServer) async throws in
            #expect(try await server.get("/thumb/10x10/link.png").status == 200)
        }
    }

    @Test("What a request says of its host gets into no response, and HTTP/1.0 ends its connection")
    func hosts() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            func ask(_ text: String) async throws -> String {
                let connection = try RawConnection(port: server.port)
                connection.send(text)
                return try #require(await connection.rest())
            }
            let path = "/iiif/a.png/info.json"
            for (fields, status) in [
                ("HTTP/1.1\nHost: evil.example\nConnection: close", "421"),
                ("HTTP/1.1\nHost: a>; rel=\"x\", <http://evil\nConnection: close", "400"),
                ("HTTP/1.1\nConnection: close", "400"),
                ("HTTP/1.1\nHost: localhost\nHost: localhost\nConnection: close", "400"),
                ("HTTP/1.1\nHost: localhost\nConnection: close", "200"), ("HTTP/1.0\nHost: localhost", "200"),
                ("HTTP/1.0", "200"),
            ] {
                let answer = try await ask("GET \(path) \(fields)\n\n")
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(fields): \(answer)")
                #expect(!answer.contains("evil"))
                #expect(answer.lowercased().contains("connection: close"))
            }
            #expect(try await ask("GET /health/live HTTP/1.0\n\n").contains("alive"))
            #expect(
                try await ask("GET /health/ready HTTP/1.1\nHost: 10.0.0.1\nConnection: close\n\n").contains("ready"))
        }
    }

    @Test("Of requests that are sent at once, only the last response ends the connection")
    func pipelined() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            let connection = try RawConnection(port: server.port)
            let lines = "GET /health/live HTTP/1.1\nHost: localhost\n"
            connection.send("\(lines)\n\(lines)\n\(lines)Connection: close\n\n")
            let answers = try #require(await connection.rest()).components(separatedBy: "HTTP/1.1 200").dropFirst()
            #expect(answers.map { $0.lowercased().contains("connection: close") } == [false, false, true])
        }
    }

    @Test("Requests that are too long or of no known method get a problem document of their own")
    func malformed() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            let long = String(repeating: "a", count: 10_000)
            let fields = (0..<1_100).map { "X-\($0): 1\n" }.joined()
            for (text, status) in [
                ("GET /\(long) HTTP/1.1\nHost: localhost\n\n", "414"),
                ("GET / HTTP/1.1\nHost: localhost\nX: \(String(repeating: long, count: 10))\n\n", "431"),
                ("GET / HTTP/1.1\nHost: localhost\n\(fields)\n", "431"),
                ("BREW / HTTP/1.1\nHost: localhost\nConnection: close\n\n", "501"),
            ] {
                let connection = try RawConnection(port: server.port)
                connection.send(text)
                let answer = try #require(await connection.rest())
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(200))")
                #expect(answer.contains("application/problem+json"))
            }
        }
    }

    @Test("A client that has closed its sending side gets a result that is in memory")
    func halfClosed() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            let path = "/thumb/30x30/a.png"
            for _ in 0..<2 { #expect(try await server.get(path).status == 200) }
            let connection = try RawConnection(port: server.port)
            connection.send("GET \(path) HTTP/1.1\nHost: localhost\nAccept: */*\n\n")
            connection.finishSending()
            #expect(try #require(await connection.rest()).hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("Pages of other origins read nothing of an unsigned server on the loopback address, and else only pictures")
    func otherOrigins() async throws {
        for (options, isOpen) in [
            (open + ["--gallery"], false), (open + ["--gallery", "--public-url", "http://127.0.0.1"], true),
        ] {
            try await withServer(options) { (server: RunningServer) async throws in
                for (path, isPicture) in [
                    ("/thumb/10x10/a.png", true), ("/iiif/a.png/info.json", true), ("/metrics", false), ("/", false),
                    ("/traces.json", false), ("/thumb/0x0/a.png", false),
                ] {
                    let field = try await server.get(path).fields[.accessControlAllowOrigin]
                    #expect(field == (isOpen && isPicture ? "*" : nil), "\(path)")
                }
            }
        }
    }

    @Test(
        "A signed path has one spelling",
        arguments: [
            "&v=123", "&signature=x", "=", "&", "%3D",
        ])
    func spellings(end: String) async throws {
        try await withServer(signed) { (server: RunningServer) async throws in
            let path = try thumb("10x10")
            #expect(try await server.get(path).status == 200)
            #expect([400, 403].contains(try await server.get(path + end).status))
            for expiry in ["99999999999999999999", "abc", "01", ""] {
                let other = path.replacingOccurrences(of: "?", with: "?expires=\(expiry)&")
                #expect(try await server.get(other).status == 403)
            }
            let text = "0.\(keys.signature(of: "0/a.png"))"
            #expect(try await server.get("/iiif/\(text)/a.png/info.json").status == 200)
            for wrong in [
                "/iiif/\(text)/%61.png/info.json", "/iiif/0\(text)/a.png/info.json",
                "/iiif/\(text)/a.png/info.json?v=1",
            ] {
                #expect([400, 403].contains(try await server.get(wrong).status), "\(wrong)")
            }
        }
    }

    @Test("Browsers and shared caches are told what the origin tells them")
    func lifetimes() async throws {
        let origin = try ScriptedOrigin()
        let (picture, clock) = (picture, ManualClock())
        let rows = [
            ("max-age=60, s-maxage=600", "max-age=60, s-maxage=600"),
            (
                "max-age=60, must-revalidate, stale-while-revalidate=30",
                "max-age=60, must-revalidate, stale-while-revalidate=30"
            ),
            ("public, max-age=31536000, immutable", "public, max-age=31536000, immutable"), ("no-cache", "no-cache"),
            ("no-store", "no-store"), ("max-age=1", "max-age=1"), ("max-age=600", "max-age=600"),
        ]
        for (index, row) in rows.enumerated() {
            origin.route("/\(index).png") { _ in
                .init(headers: [.cacheControl: row.0, .lastModified: "Mon, 01 Jan 2024 00:00:00 GMT"], body: picture)
            }
        }
        try await withServer(open + ["--allow", origin.url("/").absoluteString], clock: clock) {
            (server: RunningServer) async throws in
            for (index, row) in rows.enumerated() {
                let path = "/thumb/10x10/" + origin.url("/\(index).png").absoluteString.percentEncoded
                let answer = try await server.get(path)
                #expect(answer.status == 200 && answer.fields[.cacheControl] == row.1)
                #expect(answer.fields[.lastModified] == "Mon, 01 Jan 2024 00:00:00 GMT")
            }
        }
    }

    @Test(
        "A source that its origin doesn't give is asked for once in five seconds, and is served from a cache all the same"
    )
    func failures() async throws {
        let origin = try ScriptedOrigin()
        let (picture, clock, isUp) = (picture, ManualClock(), Up())
        origin.route("/gone.png") { _ in .init(status: 404) }
        origin.route("/a.png") { _ in
            isUp.value.load(ordering: .relaxed)
                ? .init(headers: [.cacheControl: "max-age=600"], body: picture) : .init(status: 500)
        }
        try await withServer(open + ["--allow", origin.url("/").absoluteString], clock: clock) {
            (server: RunningServer) async throws in
            func path(_ size: Int, _ name: String) -> String {
                "/thumb/\(size)x\(size)/" + origin.url(name).absoluteString.percentEncoded
            }
            for size in 1...5 { #expect(try await server.get(path(size, "/gone.png")).status == 404) }
            #expect(origin.log.requests.count == 1)
            clock.advance(by: .seconds(6))
            #expect(try await server.get(path(9, "/gone.png")).status == 404)
            #expect(origin.log.requests.count == 2)
            #expect(try await server.get(path(10, "/a.png")).status == 200)
            isUp.value.store(false, ordering: .relaxed)
            clock.advance(by: .seconds(601))
            for _ in 0..<3 { _ = try await server.get(path(11, "/a.png")) }
            #expect(origin.log.requests.count == 4)
        }
    }

    private final class Up: Sendable { let value = Atomic<Bool>(true) }

    @Test("A slow origin takes its share of the queue, and neither files nor readiness suffer")
    func slowOrigin() async throws {
        let origin = try ScriptedOrigin()
        let picture = picture
        origin.route("/a.png") { _ in .init(body: picture) }
        try await withServer(open + ["--allow", origin.url("/").absoluteString, "--queue", "4"]) {
            (server: RunningServer) async throws in
            let queue = server.server.responder.queue
            #expect(queue.enter("127.0.0.1"))
            let path = "/thumb/10x10/" + origin.url("/a.png").absoluteString.percentEncoded
            #expect(try await server.get(path).status == 503)
            #expect(try await server.get("/thumb/10x10/a.png").status == 200)
            while queue.enter(nil) {}
            #expect(try await server.get("/health/ready").status == 200)
        }
    }

    @Test("Conditions and ranges count as RFC 9110 says, also with numbers that are too large")
    func conditions() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            let path = "/thumb/20x20/a.png"
            let tag = try #require(try await server.get(path).fields[.eTag])
            #expect(try await server.get(path, [.ifMatch: "\"zzz\""]).status == 412)
            #expect(try await server.get(path, [.ifMatch: "W/\(tag)"]).status == 412)
            #expect(try await server.get(path, [.ifMatch: "\"zzz\", \(tag)"]).status == 200)
            #expect(try await server.get(path, [.range: "bytes=0-99999999999999999999"]).status == 206)
            #expect(try await server.get(path, [.range: "bytes=99999999999999999999-"]).status == 416)
            try Data(picture).write(to: folder.appending(path: "pictures/photo.v2.final.png"))
            #expect(
                try await server.get("/iiif/a.png/info.json").text.contains("\"maxWidth\":8192,\"maxHeight\":8192,"))
            let name = try await server.get("/thumb/20x20/photo.v2.final.png").fields[.contentDisposition]
            #expect(name?.contains("photo.v2.final.") == true)
        }
    }

    @Test("Keys are read again, and a file without any leaves those from before")
    func reload() async throws {
        try await withServer(signed) { (server: RunningServer) async throws in
            let path = try thumb("10x10")
            #expect(try await server.get(path).status == 200)
            let file = folder.appending(path: "keys")
            try Data("zz".utf8).write(to: file)
            #expect(throws: ServerConfigurationError.self) {
                try server.server.readKeys()
            }
            #expect(try await server.get(path).status == 200)
            try Data(String(repeating: "b2", count: 16).utf8).write(to: file)
            try server.server.readKeys()
            #expect(try await server.get(path).status == 403)
        }
    }

    @Test("A server that drains isn't ready, answers, and says that its connections end")
    func draining() async throws {
        try await withServer(open) { (server: RunningServer) async throws in
            #expect(try await server.get("/thumb/10x10/a.png").fields[.connection] == nil)
            server.server.responder.drain()
            #expect(try await server.get("/health/ready").status == 503)
            let answer = try await server.get("/thumb/10x10/a.png")
            #expect(answer.status == 200 && answer.fields[.connection] == "close")
        }
    }
}
