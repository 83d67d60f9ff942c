import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("A caller's own conditions and ranges", .inEachStore)
struct PreconditionsTests {
    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"

    /// An origin whose answer has validators and ten bytes.
    private func site() throws -> CachedSite {
        try CachedSite { request in
            let fields: HTTPFields = [
                .cacheControl: "max-age=60", .eTag: "\"1\"", .lastModified: Self.modified, .contentType: "text/x",
            ]
            let known = request.headers[values: .ifNoneMatch].joined(separator: ",").contains("\"1\"")
            return known ? .init(status: 304, headers: fields) : .init(headers: fields, body: "0123456789")
        }
    }

    @Test(
        "RFC 9111 4.3.2: what the caller has is answered with 304 out of what is fresh",
        arguments: [
            ("\"1\"", nil, 304), ("W/\"1\"", nil, 304), ("\"0\", \"1\"", nil, 304), ("*", nil, 304),
            ("\"2\"", nil, 200),
            ("\"a,\"1\"", nil, 200), (nil, modified, 304), (nil, before, 200), (nil, "yesterday", 200),
            ("\"2\"", modified, 200), ("\"1\"", before, 304),
        ] as [(String?, String?, Int)])
    func notModified(tags: String?, since: String?, status: Int) async throws {
        let site = try site()
        try await site.send()
        var headers = HTTPFields()
        headers[.ifNoneMatch] = tags
        headers[.ifModifiedSince] = since
        let response = try await site.send(.get, "/a", headers)
        #expect(response.status == status)
        #expect(response.use == .hit)
        #expect(response.body.count == (status == 304 ? 0 : 10))
        #expect(response.headers[.eTag] == "\"1\"")
        #expect(response.headers.contains(.contentType) == (status == 200))
        #expect(site.requests.count == 1)
    }

    @Test("RFC 9111 4.3.2: two tags outside ASCII are not the same because they look so")
    func obsText() async throws {
        let site = try CachedSite { _ in
            var fields: HTTPFields = [.cacheControl: "max-age=60"]
            fields.append(HTTPField(name: .eTag, lenientValue: [0x22, 0xfc, 0x22]))
            return .init(headers: fields, body: "body")
        }
        try await site.send()
        for (byte, status) in [(UInt8(0xfc), 304), (0xe9, 200)] {
            let tag = HTTPField(name: .ifNoneMatch, lenientValue: [0x22, byte, 0x22])
            #expect(try await site.send(.get, "/a", HTTPFields([tag])).status == status)
        }
    }

    @Test("RFC 9111 4.3.1: a stale response is asked about along with what the caller has, and both learn from the 304")
    func union() async throws {
        let site = try site()
        try await site.send()
        site.clock.advance(by: .seconds(60))
        let other = try await site.send(.get, "/a", [.ifNoneMatch: "\"0\""])
        #expect(site.requests.last?.headers[values: .ifNoneMatch] == ["\"0\"", "\"1\""])
        #expect(other.status == 200)
        #expect(other.use == .revalidated)
        #expect(other.text == "0123456789")
        site.clock.advance(by: .seconds(60))
        let same = try await site.send(.get, "/a", [.ifNoneMatch: "\"1\""])
        #expect(same.status == 304)
        #expect(same.use == .revalidated)
    }

    @Test("RFC 9111 4.3.2: without anything stored the caller's condition goes to the origin, and its 304 comes back")
    func passedThrough() async throws {
        let site = try site()
        let response = try await site.send(.get, "/a", [.ifNoneMatch: "\"1\""])
        #expect(response.status == 304)
        #expect(response.use == .miss)
        #expect(try await site.send().use == .miss)
    }

    @Test(
        "RFC 9110 13.1.1, 13.1.4: conditions on what the origin has are the origin's",
        arguments: ["If-Match", "If-Unmodified-Since"])
    func forOrigin(name: String) async throws {
        let site = try site()
        try await site.send()
        let response = try await site.send(.get, "/a", [try #require(HTTPField.Name(name)): "\"1\""])
        #expect(response.use == .none)
        #expect(site.requests.count == 2)
    }

    @Test(
        "RFC 9110 14.2: a range is answered out of a whole stored response",
        arguments: [
            ("bytes=0-1", 206, "01", "bytes 0-1/10"), ("bytes=8-", 206, "89", "bytes 8-9/10"),
            ("bytes=-3", 206, "789", "bytes 7-9/10"), ("bytes=5-99", 206, "56789", "bytes 5-9/10"),
            ("bytes=-99", 206, "0123456789", "bytes 0-9/10"), ("Bytes=0-0", 206, "0", "bytes 0-0/10"),
            ("bytes=10-", 416, "", "bytes */10"), ("bytes=-0", 416, "", "bytes */10"),
        ])
    func range(range: String, status: Int, body: String, contentRange: String) async throws {
        let site = try site()
        try await site.send()
        let response = try await site.send(.get, "/a", [.range: range])
        #expect(response.status == status)
        #expect(response.text == body)
        #expect(response.headers[.contentRange] == contentRange)
        #expect(response.headers[.contentLength] == String(body.utf8.count))
        #expect(response.use == .hit)
    }

    @Test(
        "RFC 9110 14.2: what a cache can't read goes to the origin",
        arguments: ["bytes=0-1,3-4", "bytes=3-1", "bytes=a-b", "lines=0-1", "bytes=", "bytes=-", "bytes"])
    func unknownRange(range: String) async throws {
        let site = try site()
        try await site.send()
        #expect(try await site.send(.get, "/a", [.range: range]).use == .miss)
        #expect(site.requests.last?.headers[.range] == range)
    }

    @Test(
        "RFC 9110 13.1.5: If-Range gives the part only where the caller's part still fits",
        arguments: [("\"1\"", 206), ("W/\"1\"", 200), ("\"2\"", 200), (modified, 206), (before, 200)])
    func ifRange(condition: String, status: Int) async throws {
        let site = try site()
        try await site.send()
        let response = try await site.send(.get, "/a", [.range: "bytes=0-1", .ifRange: condition])
        #expect(response.status == status)
        #expect(response.use == .hit)
    }

    @Test(
        "RFC 9111 3.3: parts are passed through and not stored, nor what is said about a part", arguments: [206, 416])
    func partsAreNotStored(status: Int) async throws {
        let site = try CachedSite { request in
            request.headers.contains(.range)
                ? .init(
                    status: status, headers: [.cacheControl: "max-age=60", .contentRange: "bytes 0-0/4"], body: "b")
                : .init(headers: [.cacheControl: "max-age=60"], body: "body")
        }
        #expect(try await site.send(.get, "/a", [.range: "bytes=0-0"]).status == status)
        #expect(try await site.send().text == "body")
    }
}
