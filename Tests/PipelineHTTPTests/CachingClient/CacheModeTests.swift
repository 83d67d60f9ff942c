import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("How a request uses the cache", .inEachStore)
struct CacheModeTests {
    /// An origin whose answers are numbered and fresh for a minute.
    private func site(_ control: String = "max-age=60") throws -> CachedSite {
        let count = Counter()
        return try CachedSite { request in
            request.headers[.ifNoneMatch] == nil
                ? .init(headers: [.cacheControl: control, .eTag: "\"1\""], body: "\(count.increment())")
                : .init(status: 304, headers: [.eTag: "\"1\""])
        }
    }

    @Test("no-cache has what is stored confirmed, and says so on the way with max-age=0")
    func noCache() async throws {
        let site = try site()
        try await site.send()
        let response = try await site.send(mode: .noCache)
        #expect(response.use == .revalidated)
        #expect(site.requests.last?.headers[.cacheControl] == "max-age=0")
    }

    @Test("RFC 8246 2: no-cache gives what never changes as long as it is fresh, and asks after that")
    func immutable() async throws {
        let site = try site("max-age=60, immutable")
        try await site.send()
        #expect(try await site.send(mode: .noCache).use == .hit)
        site.clock.advance(by: .seconds(60))
        #expect(try await site.send(mode: .noCache).use == .revalidated)
    }

    @Test("no-store neither reads nor writes")
    func noStore() async throws {
        let site = try site()
        #expect(try await site.send(mode: .noStore).use == .none)
        #expect(try await site.send().text == "2")
        #expect(try await site.send(mode: .noStore).text == "3")
        #expect(try await site.send().text == "2")
    }

    @Test("reload doesn't read, and replaces what is stored")
    func reload() async throws {
        let site = try site()
        try await site.send()
        let reloaded = try await site.send(mode: .reload)
        #expect(reloaded.use == .none)
        #expect(reloaded.text == "2")
        #expect(site.requests.last?.headers[.ifNoneMatch] == nil)
        #expect(site.requests.last?.headers[.cacheControl] == "no-cache")
        let after = try await site.send()
        #expect(after.use == .hit)
        #expect(after.text == "2")
    }

    @Test("force-cache gives what is stored whatever its age, and asks where nothing is")
    func forceCache() async throws {
        let site = try site()
        #expect(try await site.send(mode: .forceCache).use == .miss)
        #expect(try await site.send(mode: .forceCache).use == .hit)
        site.clock.advance(by: .seconds(1000))
        let old = try await site.send(mode: .forceCache)
        #expect(old.use == .stale)
        #expect(old.headers[.age] == "1000")
        #expect(site.requests.count == 1)
    }

    @Test("only-if-cached never asks: 504 where nothing is stored")
    func onlyIfCached() async throws {
        let site = try site()
        #expect(try await site.send(mode: .onlyIfCached).status == 504)
        try await site.send()
        site.clock.advance(by: .seconds(1000))
        #expect(try await site.send(mode: .onlyIfCached).use == .stale)
        #expect(try await site.send(.get, "/a", [.range: "bytes=0-0,2-2"], mode: .onlyIfCached).status == 200)
        #expect(site.requests.count == 1)
    }

    @Test(
        "RFC 9111 5.2.1: the request's own directives are obeyed",
        arguments: [
            ("no-cache", 10, CacheUse.revalidated), ("max-age=5", 10, .revalidated), ("max-age=20", 10, .hit),
            ("min-fresh=30", 40, .revalidated), ("min-fresh=10", 40, .hit), ("max-stale=50", 100, .stale),
            ("max-stale=30", 100, .revalidated), ("max-stale", 1000, .stale), ("no-store", 10, .none),
            ("only-if-cached", 10, .hit),
        ])
    func directives(directive: String, age: Int, use: CacheUse) async throws {
        let site = try site()
        try await site.send()
        site.clock.advance(by: .seconds(age))
        let response = try await site.send(.get, "/a", [.cacheControl: directive])
        #expect(response.use == use)
        #expect(response.status == 200)
        if use != .hit, use != .stale { #expect(site.requests.last?.headers[.cacheControl] == directive) }
    }

    @Test("RFC 9111 5.2.1.7: only-if-cached as a directive gives 504 for what is stale")
    func onlyIfCachedDirective() async throws {
        let site = try site()
        try await site.send()
        site.clock.advance(by: .seconds(60))
        #expect(try await site.send(.get, "/a", [.cacheControl: "only-if-cached"]).status == 504)
        #expect(site.requests.count == 1)
    }

    @Test("RFC 9111 5.2.1.5: what a no-store request is answered with is not stored")
    func noStoreRequest() async throws {
        let site = try site()
        try await site.send(.get, "/a", [.cacheControl: "no-store"])
        #expect(try await site.send().use == .miss)
    }
}
