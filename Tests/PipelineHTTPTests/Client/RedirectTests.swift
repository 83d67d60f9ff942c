import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("Redirects", .timeLimit(.minutes(5)))
struct RedirectTests {
    let origin: ScriptedOrigin
    let other: ScriptedOrigin
    let client = CurlClient(.local)

    init() throws {
        origin = try ScriptedOrigin { request in .init(body: request.target) }
        other = try ScriptedOrigin { request in .init(body: "other " + request.target) }
    }

    @Test("A redirect is followed, and the response says which URL gave it", arguments: [301, 302, 303, 307, 308])
    func followed(status: Int) async throws {
        origin.route("/a") { _ in .redirect(to: "/b?q=1", status: status) }
        let (response, body) = try await client.get(origin.url("/a"))
        #expect(body == Array("/b?q=1".utf8))
        #expect(response.url == origin.url("/b?q=1"))
        #expect(origin.log.connections == 1)
    }

    @Test("No redirect leads to a URL that the client's user doesn't allow")
    func notAllowed() async throws {
        origin.route("/away") { [other] _ in .redirect(to: other.url("/b").absoluteString) }
        origin.route("/inside") { _ in .redirect(to: "/secret") }
        var options = CurlClient.Options.local
        options.allows = { [port = origin.port] in $0.port == port && $0.path() != "/secret" }
        let limited = CurlClient(options)
        #expect(try await limited.get(origin.url("/free")).response.status == 200)
        for path in ["/away", "/inside", "/secret"] {
            let sent = await #expect(throws: LoadError.self) { _ = try await limited.get(origin.url(path)) }
            #expect(sent?.code == .refused)
        }
        #expect(other.log.requests.isEmpty)
        #expect(!origin.log.requests.map(\.target).contains("/secret"))
    }

    @Test("A status that is not a redirect, or has no Location, is handed over", arguments: [300, 304, 305, 302])
    func notFollowed(status: Int) async throws {
        origin.route("/a") { _ in .init(status: status, headers: status == 302 ? [:] : [.location: "/b"]) }
        #expect(try await client.get(origin.url("/a")).response.status == status)
        #expect(origin.log.requests.count == 1)
    }

    @Test(
        "A Location may be relative in every way (RFC 3986 section 5.4), and of any bytes",
        arguments: [
            ("c", "/a/c"), ("../c", "/c"), ("?q", "/a/b?q"), ("/c d", "/c%20d"), ("/caf\u{e9}", "/caf%C3%A9"),
            ("./c/./d", "/a/c/d"), ("/c#part", "/c"),
            // An escape stays what it is, whatever stands next to it.
            ("/c%20d|e", "/c%20d%7Ce"), ("/c?f[]=%20{g}", "/c?f%5B%5D=%20%7Bg%7D"),
            ("/c%C3%A9 \u{e9}", "/c%C3%A9%20%C3%A9"),
        ])
    func relative(location: String, target: String) async throws {
        origin.route("/a/b") { [location] request in
            request.target == "/a/b" ? .redirect(to: location) : .init(body: request.target)
        }
        #expect(try await client.get(origin.url("/a/b")).body == Array(target.utf8))
    }

    @Test(
        "A Location with a % that begins no escape is refused by name", arguments: ["/%zz", "/%", "/a?b=%4", "/%20%"])
    func strayPercent(location: String) async throws {
        origin.route("/a") { [location] _ in .redirect(to: location) }
        let error = await failure(.malformedResponse) { try await client.get(origin.url("/a")) }
        #expect(error?.message.contains("% that begins no escape") == true)
        #expect(origin.log.requests.map(\.target) == ["/a"])
    }

    @Test("Another origin can be named with and without its scheme")
    func otherOrigin() async throws {
        origin.route("/full") { [other] _ in .redirect(to: other.url("/x").absoluteString) }
        origin.route("/bare") { [other] _ in .redirect(to: "//127.0.0.1:\(other.port)/y") }
        #expect(try await client.get(origin.url("/full")).body == Array("other /x".utf8))
        #expect(try await client.get(origin.url("/bare")).body == Array("other /y".utf8))
    }

    @Test("Credentials stay with their origin: a redirect carries them to no other host, port or name")
    func credentials() async throws {
        let headers: HTTPFields = [
            .authorization: "Bearer secret", .cookie: "a=secret", .proxyAuthorization: "Basic secret",
            .accept: "image/*",
        ]
        origin.route("/same") { _ in .redirect(to: "/kept") }
        origin.route("/port") { [other] _ in .redirect(to: other.url("/").absoluteString) }
        origin.route("/name") { [port = origin.port] _ in .redirect(to: "http://localhost:\(port)/name2") }
        for path in ["/same", "/port", "/name"] { _ = try await client.get(origin.url(path), headers: headers) }

        let kept = try #require(origin.log.requests.first { $0.path == "/kept" })
        #expect(kept.headers[.authorization] == "Bearer secret")
        #expect(kept.headers[.cookie] == "a=secret")
        for request in try [#require(other.log.requests.first), #require(origin.log.requests.last)] {
            #expect(!request.headers.contains { $0.value.contains("secret") })
            #expect(request.headers[.accept] == "image/*")
        }
    }

    @Test("Credentials of the URL stay with their origin too")
    func urlCredentials() async throws {
        origin.route("/same") { _ in .redirect(to: "/kept") }
        origin.route("/port") { [other] _ in .redirect(to: other.url("/").absoluteString) }
        for path in ["/same", "/port"] {
            let url = try #require(URL(string: "http://me:secret@127.0.0.1:\(origin.port)\(path)"))
            _ = try await client.get(url)
        }
        #expect(origin.log.requests.allSatisfy { $0.headers[.authorization] != nil })
        #expect(other.log.requests.map { $0.headers[.authorization] } == [nil])
    }

    @Test(
        "POST becomes GET after 301, 302 and 303 and stays POST after 307 and 308",
        arguments: [301, 302, 303, 307, 308])
    func methods(status: Int) async throws {
        origin.route("/a") { _ in .redirect(to: "/b", status: status) }
        let request = TransferRequest(
            method: .post, url: origin.url("/a"), headers: [.contentType: "text/plain"], body: Array("hello".utf8))
        _ = try await client.send(request).bytes()
        let second = try #require(origin.log.requests.last)
        #expect(second.path == "/b")
        #expect(second.method == (status < 305 ? "GET" : "POST"))
        #expect(second.body == (status < 305 ? [] : Array("hello".utf8)))
        #expect(second.headers[.contentType] == (status < 305 ? nil : "text/plain"))
    }

    @Test("HEAD stays HEAD", arguments: [301, 302, 303, 307, 308])
    func head(status: Int) async throws {
        origin.route("/a") { _ in .redirect(to: "/b", status: status) }
        _ = try await client.send(TransferRequest(method: .head, url: origin.url("/a"))).bytes()
        #expect(origin.log.requests.map(\.method) == ["HEAD", "HEAD"])
    }

    @Test("A loop ends at five redirects with an error that says so")
    func loop() async throws {
        origin.route("/a") { _ in .redirect(to: "/a") }
        let error = await failure(.refused) { try await client.get(origin.url("/a")) }
        #expect(error?.message.contains("5 redirects are allowed") == true)
        #expect(origin.log.requests.count == 6)
    }

    @Test("Five redirects are followed, and as many as the caller wants")
    func count() async throws {
        for index in 0..<5 { origin.route("/\(index)") { _ in .redirect(to: "/\(index + 1)") } }
        #expect(try await client.get(origin.url("/0")).body == Array("/5".utf8))
        var request = TransferRequest(url: origin.url("/0"), maximumRedirects: 4)
        _ = await failure(.refused) { try await client.send(request) }
        request.maximumRedirects = 0
        let response = try await client.send(request)
        #expect(response.status == 302)
        #expect(response.headers[.location] == "/1")
    }

    @Test(
        "A redirect leads to http and https alone",
        arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "data:,x", "javascript:alert(1)"])
    func schemes(location: String) async throws {
        origin.route("/a") { _ in .redirect(to: location) }
        do {
            _ = try await client.get(origin.url("/a"))
            Issue.record("\(location) was followed.")
        } catch let error as LoadError {
            #expect([.unsupportedScheme, .invalidURL].contains(error.code), "\(error)")
        }
        #expect(origin.log.requests.count == 1)
    }

    @Test("The long body of a redirect is not read to its end")
    func longBody() async throws {
        origin.script("/a", .endless(headers: [.location: "/b"], [UInt8](repeating: 1, count: 1000)))
        origin.route("/c") { _ in
            var reply = ScriptedOrigin.Reply(
                status: 302, headers: [.location: "/b"], body: [UInt8](repeating: 1, count: 10_000_000))
            reply = reply.closing()
            return reply
        }
        #expect(try await client.get(origin.url("/c")).body == Array("/b".utf8))
        await origin.until { $0.abandoned == 1 }
        #expect(origin.log.connections == 2)
    }
}
