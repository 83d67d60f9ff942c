import Foundation
import HTTPTypes
import PipelineTesting
import Testing

@Suite("pipectl fetch")
struct FetchTests {
    private let pipectl: Pipectl
    private let origin: ScriptedOrigin

    init() throws {
        pipectl = try Pipectl()
        origin = try ScriptedOrigin { _ in
            .init(
                reason: "OK",
                headers: [
                    .cacheControl: "max-age=3600", .eTag: "\"1\"", .setCookie: "sid=hunter2",
                    .contentLocation: "/x?token=hunter2",
                ], body: "body")
        }
    }

    @Test("prints no escape sequence, whatever the server says, in any verb")
    func escapes() async throws {
        let wild = "\u{1B}]0;owned\u{7}\u{1B}[31m\u{9B}\u{202E}"
        let server = try ScriptedOrigin { request in
            request.target == "/failing.png"
                ? .init(status: 500, reason: "Bad " + wild, headers: [.contentType: "text/" + wild])
                : .init(headers: [.contentType: "image/" + wild], body: "<html>" + wild)
        }
        for path in ["/failing.png", "/page.png"] {
            let url = server.url(path).absoluteString
            for command in [
                "fetch \(url)", "fetch -v \(url)", "fetch --explain \(url)", "fetch --json \(url)", "load \(url)",
                "load --trace \(url)", "thumb \(url) -s 8 -o -", "info \(url)", "info --json \(url)",
                "prefetch \(url)",
            ] {
                let result = try await pipectl.shell("pipectl \(command) 2>&1")
                let marks = result.text.unicodeScalars.filter {
                    wild.unicodeScalars.contains($0) && !($0 >= " " && $0 <= "~")
                }
                #expect(marks.isEmpty, "\(command): \(result.text)")
            }
        }
    }

    @Test("says for each URL how it was answered")
    func summary() async throws {
        let result = try await pipectl.run(
            "fetch", origin.url("/a?secret=hunter2").absoluteString, origin.url("/a?secret=hunter2").absoluteString)
        #expect(result.status == 0)
        #expect(
            result.lines.map { $0.components(separatedBy: ": ").last } == [
                "200 OK, 4 bytes, miss", "200 OK, 4 bytes, hit",
            ])
        #expect(!result.text.contains("hunter2"))
    }

    @Test("--explain shows the stored entry, its arithmetic, what was sent and what came back, and no secret")
    func explain() async throws {
        let url = origin.url("/a?secret=hunter2").absoluteString
        let first = try await pipectl.run(
            "fetch", url, "--explain", "-H", "Authorization: Basic hunter2", "-H", "X-Api-Key: hunter2", "-H",
            "Accept: text/x")
        #expect(first.text.contains("stored: nothing stored"))
        #expect(first.text.contains("    Accept: text/x\n"))
        #expect(first.text.contains("    Authorization: …\n"))
        #expect(first.text.contains("came back: 200"))
        #expect(first.text.contains("Content-Location: /x?token=…"))
        #expect(first.text.contains("age 0 s, lifetime 3600 s (max-age)"))
        #expect(!first.text.contains("hunter2"))
        #expect(origin.log.requests.first?.headers[.authorization] == "Basic hunter2")
        let second = try await pipectl.run(
            "fetch", url, "--explain", "-H", "Authorization: Basic hunter2", "-H", "X-Api-Key: hunter2", "-H",
            "Cache-Control: max-stale=5")
        #expect(second.text.contains("it turns stale at 20"))
        #expect(!second.text.contains("sent,"))
        #expect(second.text.contains("from cache: hit"))
        let third = try await pipectl.run(
            "fetch", url, "--explain", "-H", "Authorization: Basic hunter2", "-H", "X-Api-Key: hunter2", "-H",
            "Cache-Control: no-cache")
        #expect(third.text.contains("the request says no-cache"))
        #expect(third.text.contains("If-None-Match: \"1\""))
    }

    @Test("--json prints one object a URL with every field, and no secret")
    func json() async throws {
        let url = origin.url("/a?secret=hunter2").absoluteString
        let result = try await pipectl.run("fetch", url, "ftp://example.com/", "--json")
        #expect(result.status == 1)
        let objects = try result.objects()
        #expect(objects.count == 2)
        for object in objects {
            #expect(
                Set(object.keys) == ["url", "status", "statusText", "headers", "bytes", "fromCache", "steps", "error"])
        }
        #expect(objects[0]["fromCache"] as? String == "miss")
        #expect(objects[0]["bytes"] as? Int == 4)
        let step = try #require((objects[0]["steps"] as? [[String: Any]])?.first)
        #expect((step["stored"] as? [String: Any])?["lifetime"] as? Int == 3600)
        #expect((objects[1]["error"] as? [String: Any])?["code"] as? String == "unsupportedScheme")
        #expect(!result.text.contains("hunter2"))
    }

    @Test("-o writes the content to a file, or to standard output and nothing else")
    func output() async throws {
        let url = origin.url("/a").absoluteString
        _ = try await pipectl.run("fetch", url, "-o", "a.txt")
        #expect(try String(contentsOfFile: pipectl.path("a.txt"), encoding: .utf8) == "body")
        let piped = try await pipectl.run("fetch", url, "-o", "-", "--explain")
        #expect(piped.text == "body")
        #expect(piped.errors.contains("from cache: hit"))
    }

    @Test("Any status is a response; no response is an error and status 1")
    func errors() async throws {
        origin.route("/gone") { _ in .init(status: 410) }
        #expect(try await pipectl.run("fetch", origin.url("/gone").absoluteString).status == 0)
        origin.route("/cut") { _ in .raw("") }
        let cut = try await pipectl.run("fetch", origin.url("/cut?secret=hunter2").absoluteString)
        #expect(cut.status == 1)
        #expect(cut.errors.contains("closed the connection"))
        #expect(!cut.errors.contains("hunter2"))
    }

    @Test(
        "Wrong usage is status 2 and says what to do",
        arguments: [
            ["fetch"], ["fetch", "http://a/", "http://b/", "-o", "x"], ["fetch", "http://a/", "-H", "nonsense"],
            ["fetch", "http://a/", "-H", "X: a\r\nB: c"], ["fetch", "--stdio", "http://a/"],
            ["fetch", "http://a/", "--json", "-o", "-"],
        ])
    func usage(arguments: [String]) async throws {
        let (output, errors) = (Pipe(), Pipe())
        let process = try pipectl.start(arguments, output: output, errors: errors)
        let told = await Pipectl.bytes(of: errors)
        #expect(await Pipectl.status(of: process) == 2)
        #expect(!told.isEmpty)
    }
}
