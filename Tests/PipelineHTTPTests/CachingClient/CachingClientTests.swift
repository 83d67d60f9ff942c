import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("A cache before a client (RFC 9111)", .inEachStore)
struct CachingClientTests {
    @Test(
        "4.2: what is fresh is given without asking, with its age, whatever its type and status", arguments: [200, 404])
    func fresh(status: Int) async throws {
        let site = try CachedSite { _ in
            .init(status: status, headers: [.cacheControl: "max-age=60", .contentType: "text/x"], body: "body")
        }
        let first = try await site.send()
        #expect(first.use == .miss)
        #expect(!first.headers.contains(.age))
        site.clock.advance(by: .seconds(59))
        let second = try await site.send()
        #expect(second.use == .hit)
        #expect(second.status == status)
        #expect(second.headers[.age] == "59")
        #expect(second.headers[.contentType] == "text/x")
        #expect(second.text == "body")
        site.clock.advance(by: .seconds(1))
        #expect(try await site.send().use == .miss)
        #expect(site.requests.count == 2)
    }

    @Test("4.3.4: a 304 merges its fields into what is stored and makes it fresh again; every field reaches the origin")
    func notModified() async throws {
        let site = try CachedSite { request in
            request.headers[.ifNoneMatch] == nil
                ? .init(
                    headers: [.eTag: "\"1\"", .cacheControl: "max-age=60", .server: "old"], body: "body")
                : .init(status: 304, headers: [.eTag: "\"1\"", .cacheControl: "max-age=100", .server: "new"])
        }
        try await site.send()
        site.clock.advance(by: .seconds(60))
        let confirmed = try await site.send(.get, "/a", [.accept: "text/x"])
        #expect(confirmed.use == .revalidated)
        #expect(confirmed.status == 200)
        #expect(confirmed.text == "body")
        #expect(confirmed.headers[.server] == "new")
        #expect(confirmed.headers[.contentLength] == "4")
        #expect(!confirmed.headers.contains(.age))
        #expect(site.requests.last?.headers[.ifNoneMatch] == "\"1\"")
        #expect(site.requests.last?.headers[.accept] == "text/x")
        site.clock.advance(by: .seconds(99))
        #expect(try await site.send().headers[.age] == "99")
        #expect(site.requests.count == 2)
    }

    @Test("4.3.4: a 304 about another answer is not believed: all of it is asked for")
    func foreignNotModified() async throws {
        let site = try CachedSite { request in
            request.headers[.ifNoneMatch] == nil
                ? .init(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: "body")
                : .init(status: 304, headers: [.eTag: "\"2\""])
        }
        try await site.send()
        site.clock.advance(by: .seconds(60))
        #expect(try await site.send().use == .miss)
        #expect(site.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil])
    }

    @Test("4.3.3: a full answer takes the place of the stored response, also where it may not be stored itself")
    func fullAnswer() async throws {
        let site = try CachedSite()
        site.origin.script(
            "/a", .init(headers: [.cacheControl: "max-age=60"], body: "old"),
            .init(headers: [.cacheControl: "no-store"], body: "new"))
        try await site.send()
        site.clock.advance(by: .seconds(60))
        #expect(try await site.send().text == "new")
        #expect(try await site.send(mode: .onlyIfCached).status == 504)
    }

    @Test("4.1: Vary tells variants apart, each with its own entry")
    func vary() async throws {
        let site = try CachedSite { request in
            .init(
                headers: [.cacheControl: "max-age=60", .vary: "Accept-Language"],
                body: request.headers[.acceptLanguage] ?? "none")
        }
        for use in [CacheUse.miss, .hit] {
            for language in ["de", "en"] {
                let response = try await site.send(.get, "/a", [.acceptLanguage: language])
                #expect(response.use == use)
                #expect(response.text == language)
            }
        }
        #expect(try await site.send().text == "none")
    }

    @Test("Requests with different Authorization never share an entry")
    func authorization() async throws {
        let site = try CachedSite { request in
            .init(headers: [.cacheControl: "max-age=60"], body: request.headers[.authorization] ?? "nobody")
        }
        for name in ["Ann", "Bob", nil] {
            var headers = HTTPFields()
            headers[.authorization] = name
            #expect(try await site.send(.get, "/a", headers).text == name ?? "nobody")
        }
        #expect(site.requests.count == 3)
    }

    @Test(
        "4.4: a successful unsafe request invalidates its URL and, of the same origin, Location and Content-Location",
        arguments: ["POST", "PUT", "DELETE", "M-SEARCH"])
    func invalidation(method: String) async throws {
        let site = try CachedSite { request in
            request.method == "GET"
                ? .init(headers: [.cacheControl: "max-age=60"], body: "body")
                : .init(status: 201, headers: [.location: "/b", .contentLocation: "/c"])
        }
        let unsafe = try #require(HTTPRequest.Method(method))
        for path in ["/a", "/b", "/c", "/d"] { try await site.send(.get, path) }
        let answer = try await site.send(unsafe, "/a", body: Array("x".utf8), redirect: .manual)
        #expect(answer.use == .none)
        #expect(site.requests.last?.method == method)
        #expect(site.requests.last?.body == Array("x".utf8))
        var uses: [CacheUse] = []
        for path in ["/a", "/b", "/c", "/d"] { uses.append(try await site.send(.get, path).use) }
        #expect(uses == [.miss, .miss, .miss, .hit])
    }

    @Test(
        "4.4: a failed unsafe request and a safe one invalidate nothing", arguments: [("POST", 500), ("OPTIONS", 200)])
    func noInvalidation(method: String, status: Int) async throws {
        let site = try CachedSite { request in
            request.method == "GET"
                ? .init(headers: [.cacheControl: "max-age=60"]) : .init(status: status)
        }
        try await site.send()
        #expect(try await site.send(try #require(HTTPRequest.Method(method))).status == status)
        #expect(try await site.send().use == .hit)
    }

    @Test("4.4: what was asked for before an unsafe request and arrives after it is given, and not stored")
    func invalidatedUnderWay() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try CachedSite { request in
            request.method == "GET"
                ? ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: "old").held(until: gate)
                : .init(status: 204)
        }
        async let old = site.send()
        await site.origin.until { $0.requests.count == 1 }
        site.clock.advance(by: .seconds(1))
        try await site.send(.delete)
        gate.open()
        #expect(try await old.text == "old")
        #expect(try await site.send().use == .miss)
        #expect(try await site.send().use == .hit)
        await site.client.invalidate(site.origin.url("/a"))
        #expect(try await site.send().use == .miss)
    }

    @Test("RFC 9110 9.3.3: what a POST says of its own URL, with a lifetime, answers a later GET; others don't")
    func post() async throws {
        let site = try CachedSite { request in
            .init(headers: [.cacheControl: "max-age=60", .contentLocation: "/own"], body: request.path)
        }
        try await site.send(.post, "/own")
        #expect(try await site.send(.get, "/own").use == .hit)
        try await site.send(.post, "/other")
        #expect(try await site.send(.get, "/other").use == .miss)
    }

    @Test("4.3.5: HEAD is answered out of a stored GET, without content and with its fields")
    func headFromGet() async throws {
        let site = try CachedSite { _ in .init(headers: [.cacheControl: "max-age=60"], body: "body") }
        try await site.send()
        let head = try await site.send(.head)
        #expect(head.use == .hit)
        #expect(head.body == [])
        #expect(head.headers[.contentLength] == "4")
        #expect(site.requests.count == 1)
    }

    @Test(
        "4.3.5: a HEAD that agrees with what is stored freshens it, one that doesn't removes it",
        arguments: [true, false])
    func headUpdates(agrees: Bool) async throws {
        let site = try CachedSite { request in
            .init(
                headers: [
                    .cacheControl: "max-age=60", .eTag: request.method == "HEAD" && !agrees ? "\"2\"" : "\"1\"",
                ], body: "body")
        }
        try await site.send()
        site.clock.advance(by: .seconds(60))
        #expect(try await site.send(.head).use == .miss)
        #expect(site.requests.last?.method == "HEAD")
        #expect(try await site.send().use == (agrees ? .hit : .miss))
    }

    @Test("Interim responses are passed on and not stored (RFC 9110 section 15.2)")
    func interim() async throws {
        let link = try #require(HTTPField.Name("Link"))
        let site = try CachedSite { _ in
            ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: "body")
                .interim(103, headers: [link: "</a.css>"])
        }
        let first = try await site.send()
        #expect(first.interim.map(\.status) == [103])
        #expect(first.status == 200)
        #expect(try await site.send().interim.isEmpty)
    }

    @Test("Redirects are followed entry by entry, or handed over")
    func redirects() async throws {
        let site = try CachedSite()
        site.origin.route("/a") { _ in
            .init(status: 301, headers: [.location: "/b", .cacheControl: "max-age=60"])
        }
        site.origin.route("/b") { _ in .init(headers: [.cacheControl: "max-age=30"], body: "b") }
        let first = try await site.send()
        #expect(first.text == "b")
        #expect(first.url == site.origin.url("/b"))
        #expect(first.steps.count == 2)
        #expect(try await site.send(redirect: .manual).status == 301)
        #expect(try await site.send(redirect: .manual).use == .hit)
        site.clock.advance(by: .seconds(30))
        #expect(try await site.send().text == "b")
        #expect(site.requests.map(\.path) == ["/a", "/b", "/b"])
    }

    @Test("A redirect loop ends with an error that names it")
    func redirectLoop() async throws {
        let site = try CachedSite { _ in .redirect(to: "/a?secret=1") }
        let error = await failure(.refused) { try await site.send() }
        #expect(error?.message.contains("redirects once more") == true)
        #expect(error?.description.contains("secret=1") == false)
        #expect(site.requests.count == 6)
    }

    @Test("Equal requests at the same time wait for one fetch whose answer may be reused")
    func collapsed() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try CachedSite { _ in
            ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: "body").held(until: gate, after: 1)
        }
        async let uses = withThrowingTaskGroup(of: CacheUse.self) { group in
            for _ in 0..<20 { group.addTask { try await site.send().use } }
            return try await group.reduce(into: [CacheUse: Int]()) { $0[$1, default: 0] += 1 }
        }
        await site.origin.until { !$0.requests.isEmpty }
        gate.open()
        #expect(try await uses == [.miss: 1, .hit: 19])
        #expect(site.requests.count == 1)
    }

    @Test("Where the response may not be reused nobody waits for its end, and everyone asks")
    func notCollapsed() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try CachedSite { _ in
            ScriptedOrigin.Reply(headers: [.cacheControl: "no-store"], body: "body").held(until: gate, after: 1)
        }
        async let answers = withThrowingTaskGroup(of: CachingResponse.self) { group in
            for _ in 0..<4 { group.addTask { try await site.send() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // All of them, while the first one's body has yet to come.
        await site.origin.until { $0.requests.count == 4 }
        gate.open()
        #expect(try await answers.map(\.text) == Array(repeating: "body", count: 4))
    }

    @Test("A waiter that is cancelled returns at once; the fetch continues for the others")
    func cancelledWaiter() async throws {
        let gate = try ScriptedOrigin.Gate()
        let site = try CachedSite { _ in
            ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: "body").held(until: gate)
        }
        async let first = site.send()
        await site.origin.until { !$0.requests.isEmpty }
        let second = Task { try await site.send() }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
        #expect(try await first.text == "body")
        #expect(site.requests.count == 1)
    }
}
