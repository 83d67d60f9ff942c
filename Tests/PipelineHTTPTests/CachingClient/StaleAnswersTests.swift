import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("What is stale and given all the same (RFC 9111 section 4.2.4, RFC 5861)", .inEachStore)
struct StaleAnswersTests {
    private func site(_ control: String) throws -> CachedSite {
        let site = try CachedSite()
        site.origin.route("/a") { _ in .init(headers: [.cacheControl: control, .eTag: "\"1\""], body: "old") }
        return site
    }

    @Test("4.2.4: where the origin can't be reached the stale response is given with its age")
    func unreachable() async throws {
        let site = try site("max-age=60")
        try await site.send()
        site.clock.advance(by: .seconds(100))
        site.origin.route("/a") { _ in .raw("") }
        let response = try await site.send()
        #expect(response.use == .stale)
        #expect(response.headers[.age] == "100")
        #expect(response.text == "old")
        #expect(response.steps.last?.sent != nil)
        #expect(response.steps.last?.status == nil)
    }

    @Test("4.2.4: a response that breaks off is as good as none")
    func cut() async throws {
        let site = try site("max-age=60")
        try await site.send()
        site.clock.advance(by: .seconds(100))
        site.origin.route("/a") { _ in ScriptedOrigin.Reply(body: "a new one").cut(after: 3) }
        #expect(try await site.send().text == "old")
    }

    @Test("5.2.2.2: what forbids it is an error of the cache's own, 504", arguments: ["must-revalidate", "no-cache"])
    func forbidden(directive: String) async throws {
        let site = try site("max-age=60, \(directive)")
        try await site.send()
        site.clock.advance(by: .seconds(100))
        site.origin.route("/a") { _ in .raw("") }
        let response = try await site.send()
        #expect(response.status == 504)
        #expect(response.body == [])
    }

    @Test("Nothing stored and no origin is an error")
    func nothing() async throws {
        let site = try CachedSite { _ in .raw("") }
        _ = await failure(.unreachable) { try await site.send() }
    }

    @Test("A request may let the stale response stand in for any 5xx for a time", arguments: [(160, 200), (161, 521)])
    func allowedByRequest(after seconds: Int, status: Int) async throws {
        let site = try site("max-age=60")
        try await site.send()
        site.clock.advance(by: .seconds(seconds - 1))
        site.origin.route("/a") { _ in .init(status: 521) }
        let url = site.origin.url("/a")
        let response = try await site.client.send(CachingRequest(url: url, staleIfError: .seconds(100)))
        #expect(response.status == status)
        #expect(try await site.client.send(CachingRequest(url: url)).status == 521)
    }

    @Test("A request that says no-cache gets no stale response but the error")
    func requestNoCache() async throws {
        let site = try site("max-age=60")
        try await site.send()
        site.origin.route("/a") { _ in .raw("") }
        _ = await failure(.unreachable) { try await site.send(.get, "/a", [.cacheControl: "no-cache"]) }
    }

    @Test(
        "RFC 5861 4: stale-if-error covers 500, 502, 503 and 504, within its window",
        arguments: [
            (500, 100, true), (502, 100, true), (503, 100, true), (504, 100, true), (404, 100, false),
            (503, 161, false),
        ])
    func staleIfError(status: Int, age: Int, isGiven: Bool) async throws {
        let site = try site("max-age=60, stale-if-error=100")
        try await site.send()
        site.clock.advance(by: .seconds(age))
        site.origin.route("/a") { _ in .init(status: status, body: "error") }
        let response = try await site.send()
        #expect(response.use == (isGiven ? .stale : .miss))
        #expect(response.status == (isGiven ? 200 : status))
        #expect(response.text == (isGiven ? "old" : "error"))
    }

    @Test("RFC 5861 4: without it an error of the origin's is the response")
    func noStaleIfError() async throws {
        let site = try site("max-age=60")
        try await site.send()
        site.clock.advance(by: .seconds(100))
        site.origin.route("/a") { _ in .init(status: 503) }
        #expect(try await site.send().status == 503)
    }

    @Test("RFC 5861 3: stale-while-revalidate answers and asks in the background, with every field of the request")
    func whileRevalidating() async throws {
        let site = try site("max-age=60, stale-while-revalidate=100")
        try await site.send()
        site.clock.advance(by: .seconds(100))
        let gate = try ScriptedOrigin.Gate()
        site.origin.route("/a") { _ in
            ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: "new").held(until: gate)
        }
        for _ in 0..<3 {
            let stale = try await site.send(.get, "/a", [.accept: "text/x"])
            #expect(stale.use == .stale)
            #expect(stale.text == "old")
            #expect(stale.headers[.age] == "100")
        }
        gate.open()
        await site.client.drain()
        #expect(site.requests.count == 2)
        #expect(site.requests.last?.headers[.accept] == "text/x")
        #expect(site.requests.last?.headers[.ifNoneMatch] == "\"1\"")
        let fresh = try await site.send()
        #expect(fresh.use == .hit)
        #expect(fresh.text == "new")
    }

    @Test("RFC 5861 3: after its window the origin is asked first")
    func afterTheWindow() async throws {
        let site = try site("max-age=60, stale-while-revalidate=100")
        try await site.send()
        site.clock.advance(by: .seconds(160))
        #expect(try await site.send().use == .miss)
    }

    @Test("A revalidation that is dropped leaves what is stored as it is")
    func dropped() async throws {
        let site = try site("max-age=60, stale-while-revalidate=100")
        try await site.send()
        site.clock.advance(by: .seconds(100))
        let gate = try ScriptedOrigin.Gate()
        site.origin.route("/a") { _ in ScriptedOrigin.Reply(body: "new").held(until: gate) }
        try await site.send()
        await site.origin.until { $0.requests.count == 2 }
        site.client.cancelBackground()
        await site.client.drain()
        #expect(try await site.send(mode: .onlyIfCached).text == "old")
    }
}
