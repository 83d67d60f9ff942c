import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Stages
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Resumption of a body that broke off", .timeLimit(.minutes(5)))
struct ResumptionTests {
    private let site: Site
    private let whole = Array("0123456789".utf8)
    private let strong: HTTPFields = [.eTag: "\"1\"", .contentType: "image/x"]

    init() throws { site = try Site() }

    /// The first answer, cut after four bytes.
    private func cut(_ headers: HTTPFields) -> ScriptedOrigin.Reply {
        .init(headers: headers, body: whole).cut(after: 4)
    }

    private func rest(_ range: String? = "bytes 4-9/10", headers: HTTPFields? = nil, body: String = "456789")
        -> ScriptedOrigin.Reply
    {
        var headers = headers ?? strong
        headers[.contentRange] = range
        return .init(status: 206, headers: headers, body: body)
    }

    private func load(
        headers: HTTPFields = [:], attempts: Int = 3, client: (any TransferClient)? = nil, path: String = "/a",
        events: (@Sendable (LoadEvent) -> Void)? = nil
    ) async throws -> LoadResponse {
        let resources = site.resources()
        let pipeline = ImagePipeline(clock: site.clock) {
            ResolveIdentifier()
            Lookup(resources.responses)
            Retry(attempts: attempts, initialDelay: .zero) {
                FollowRedirects { Fetch(client ?? resources.client) }
            }
            StubStage("Decode", accepts: .original, produces: .decoded) { load in
                load.advance(to: .decoded(.filled(1)))
                return .done
            }
            Store(nil, resources.responses)
        }
        return try await pipeline.load(
            ImageRequest(ImageSource(site.origin.url(path)), headers: headers), events: events)
    }

    /// What the cache has stored in the end.
    private func stored(_ path: String = "/a") async throws -> StoredResponse? {
        let key = try #require(SourceKey(ImageRequest(site.origin.url(path))))
        return switch try await site.resources().responses.lookup(key) {
        case .fresh(let response, _), .stale(let response, _): response
        case .miss: nil
        }
    }

    private var requests: [ScriptedOrigin.Request] { site.origin.log.requests }

    @Test("The rest alone is asked for, by a strong tag, and what is stored is the whole")
    func resumed() async throws {
        var second = strong
        second[.cacheControl] = "max-age=77"
        site.origin.script("/a", cut(strong), rest(headers: second))
        let response = try await load()
        #expect(requests.map { $0.headers[.range] } == [nil, "bytes=4-"])
        #expect(requests.map { $0.headers[.ifRange] } == [nil, "\"1\""])
        let stored = try #require(try await stored())
        #expect(stored.body == whole)
        #expect(stored.status == 200)
        #expect(stored.headers[.contentRange] == nil)
        #expect(stored.headers[.contentLength] == "10")
        #expect(stored.headers[.contentType] == "image/x")
        #expect(stored.headers[.cacheControl] == "max-age=77")
        #expect(response.trace.entries(of: Fetch.self).last?.fact == .resumed(from: 4))
    }

    @Test("A date that is old enough to be strong serves as well")
    func date() async throws {
        let modified = HTTPDate.format(site.clock.now - 100)
        let headers: HTTPFields = [.lastModified: modified, .date: HTTPDate.format(site.clock.now)]
        site.origin.script("/a", cut(headers), rest(headers: headers))
        _ = try await load()
        #expect(requests.last?.headers[.ifRange] == modified)
        #expect(try await stored()?.body == whole)
    }

    @Test("A body that breaks off twice is resumed twice; a response without a body in between changes nothing")
    func twice() async throws {
        site.origin.script(
            "/a", cut(strong), rest().cut(after: 3), .init(status: 503), rest("bytes 7-9/*", body: "789"))
        _ = try await load(attempts: 4)
        #expect(requests.map { $0.headers[.range] } == [nil, "bytes=4-", "bytes=7-", "bytes=7-"])
        #expect(try await stored()?.body == whole)
    }

    @Test("The progress continues where it stopped, and counts to the whole")
    func progress() async throws {
        let seen = Lock([String]())
        site.origin.script("/a", cut(strong), rest())
        _ = try await load { event in
            if case .progress(let received, let expected) = event {
                seen.withLock { $0.append("\(received)/\(expected ?? 0)") }
            }
        }
        #expect(seen.withLock { $0 } == ["4/10", "10/10"])
    }

    @Test("Another version is taken from its beginning")
    func changed() async throws {
        site.origin.script("/a", cut(strong), .init(headers: [.eTag: "\"2\""], body: "another one"))
        _ = try await load()
        #expect(requests.last?.headers[.ifRange] == "\"1\"")
        #expect(try await stored()?.body == Array("another one".utf8))
    }

    @Test("Another version that breaks off as well is resumed by its own tag")
    func changedAndCut() async throws {
        let other: HTTPFields = [.eTag: "\"2\""]
        site.origin.script(
            "/a", cut(strong), .init(headers: other, body: "abcdef").cut(after: 2),
            rest("bytes 2-5/6", headers: other, body: "cdef"))
        _ = try await load()
        #expect(requests.map { $0.headers[.ifRange] } == [nil, "\"1\"", "\"2\""])
        #expect(try await stored()?.body == Array("abcdef".utf8))
    }

    @Test(
        "Without a strong validator, or where the origin takes no ranges, it starts over",
        arguments: [
            [.eTag: "W/\"1\""], [:], [.eTag: "1"], [.lastModified: "Tue, 14 Nov 2023 22:13:20 GMT"],
            [.eTag: "\"1\"", .acceptRanges: "none"],
        ] as [HTTPFields])
    func weak(headers: HTTPFields) async throws {
        site.origin.script("/a", cut(headers), .init(headers: headers, body: whole))
        _ = try await load()
        #expect(requests.count == 2)
        #expect(requests.allSatisfy { $0.headers[.range] == nil && $0.headers[.ifRange] == nil })
        #expect(try await stored()?.body == whole)
    }

    @Test("A body in chunks, whose length nobody said, starts over")
    func chunked() async throws {
        site.origin.script(
            "/a", .chunked(headers: strong, [Array("0123".utf8), Array("456789".utf8)]).cut(after: 9),
            .init(headers: strong, body: whole))
        _ = try await load()
        #expect(requests.map { $0.headers[.range] } == [nil, nil])
    }

    @Test("A caller who asks for a range of its own gets no other")
    func callersRange() async throws {
        site.origin.script("/a", cut(strong), .init(headers: strong, body: whole))
        _ = try await load(headers: [.range: "bytes=0-"])
        #expect(requests.map { $0.headers[.range] } == ["bytes=0-", "bytes=0-"])
    }

    @Test(
        "A range that was not asked for is refused, and not tried again",
        arguments: [
            "bytes 3-9/10", "bytes 5-9/10", "bytes 4-8/10", "bytes 4-9/11", "bytes 4-10/11", "bytes 4-10/*",
            "bytes */10", "bytes 9-4/10", "", "nonsense",
        ])
    func wrongRange(range: String) async throws {
        site.origin.script("/a", cut(strong), rest(range.isEmpty ? nil : range))
        let error = await failure(.malformedResponse) { try await load() }
        #expect(error?.message.contains("the bytes from 4 to the end of 10 were asked for") == true)
        #expect(requests.count == 2)
        #expect(try await stored() == nil)
    }

    @Test("A rest that is shorter or longer than its range says is refused", arguments: ["45678", "456789a", ""])
    func wrongLength(body: String) async throws {
        site.origin.script("/a", cut(strong), rest(body: body))
        let error = await failure(.malformedResponse) { try await load() }
        #expect(error?.message.contains("sent \(body.utf8.count) bytes under its range") == true)
        #expect(try await stored() == nil)
    }

    @Test(
        "A rest without the same strong validator is never joined to the beginning: the whole is requested",
        arguments: [[.eTag: "\"2\""], [.eTag: "W/\"1\""], [:], [.lastModified: ResumptionTests.modified]]
            as [HTTPFields])
    func otherVersion(headers: HTTPFields) async throws {
        let other = Array("abcdefghij".utf8)
        site.origin.script(
            "/a", cut(strong), rest(headers: headers, body: "efghij"), .init(headers: headers, body: other))
        _ = try await load()
        #expect(requests.map { $0.headers[.range] } == [nil, "bytes=4-", nil])
        #expect(try await stored()?.body == other)
    }

    @Test("A date confirms a rest only if the rest repeats it and has no tag")
    func otherDate() async throws {
        let dated: HTTPFields = [.lastModified: Self.modified, .date: HTTPDate.format(site.clock.now)]
        site.origin.script(
            "/a", cut(dated), rest(headers: [.date: HTTPDate.format(site.clock.now)]), cut(dated),
            rest(headers: dated.with(.eTag, "\"1\"")), .init(headers: dated, body: whole))
        _ = try await load(attempts: 4)
        #expect(requests.map { $0.headers[.range] } == [nil, "bytes=4-", nil, "bytes=4-", nil])
        #expect(try await stored()?.body == whole)
    }

    /// A date that is a strong validator: older than the response by more than a second.
    fileprivate static let modified = "Tue, 14 Nov 2023 22:00:00 GMT"

    @Test("A part that nobody asked for is refused")
    func unasked() async throws {
        site.origin.script("/a", rest())
        let error = await failure(.malformedResponse) { try await load() }
        #expect(error?.message.contains("(206)") == true)
        #expect(requests.count == 1)
    }

    @Test("416 makes it start over, at once")
    func unsatisfiable() async throws {
        site.origin.script(
            "/a", cut(strong), .init(status: 416, headers: [.contentRange: "bytes */3"]), .init(body: "abc"))
        _ = try await load(attempts: 2)
        #expect(requests.map { $0.headers[.range] } == [nil, "bytes=4-", nil])
        #expect(try await stored()?.body == Array("abc".utf8))
    }

    @Test("A redirect that leads to another URL than before makes it start over, though the tag is the same")
    func elsewhere() async throws {
        site.origin.script("/a", .redirect(to: "/b"), .redirect(to: "/c"))
        site.origin.script("/b", cut(strong))
        site.origin.route("/c") { [strong] request in
            request.headers[.range] == nil
                ? .init(headers: strong, body: "whole of c")
                : .init(status: 206, headers: strong.with(.contentRange, "bytes 4-9/10"), body: "e of c")
        }
        let response = try await load()
        #expect(requests.map(\.path) == ["/a", "/b", "/a", "/c"])
        #expect(requests.last?.headers[.range] == nil)
        #expect(response.source == .network)
    }

    @Test("A stale entry is asked after too: 304 makes it the response, though another body broke off before")
    func stale() async throws {
        site.origin.script(
            "/a", .init(headers: [.eTag: "\"0\"", .cacheControl: "max-age=1"], body: "old"), cut(strong),
            .init(status: 304, headers: [.eTag: "\"0\""]))
        _ = try await load()
        site.clock.advance(by: .seconds(2))
        #expect(try await load().source == .revalidated)
        #expect(requests.last?.headers[.ifNoneMatch] == "\"0\"")
        #expect(requests.last?.headers[.range] == "bytes=4-")
        #expect(try await stored()?.body == Array("old".utf8))
    }

    @Test("Without Retry nothing is resumed")
    func withoutRetry() async throws {
        site.origin.script("/a", cut(strong), rest())
        _ = await failure(.unreachable) { try await load(attempts: 1) }
        #expect(requests.count == 1)
    }

    @Test("A body that is decompressed on the way is never resumed: its range counts other bytes")
    func decompressed() async throws {
        // Two stored blocks (RFC 1951 section 3.2.4), of which the second is cut.
        var gzip: [UInt8] = [31, 139, 8, 0, 0, 0, 0, 0, 2, 255]
        gzip += [0, 5, 0, 0xfa, 0xff] + whole[..<5]
        gzip += [1, 5, 0, 0xfa, 0xff] + whole[5...]
        gzip += [0xc6, 0xc7, 0x84, 0xa6, 10, 0, 0, 0]
        let headers: HTTPFields = [.eTag: "\"1\"", .contentEncoding: "gzip"]
        site.origin.script(
            "/a", .init(headers: headers, body: gzip).cut(after: 26), .init(headers: headers, body: gzip))
        var options = CurlClient.Options.local
        options.decompress = true
        _ = try await load(client: CurlClient(options))
        #expect(requests.map { $0.headers[.range] } == [nil, nil])
        #expect(try await stored()?.body == whole)
    }
}

extension HTTPFields {
    fileprivate func with(_ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var copy = self
        copy[name] = value
        return copy
    }
}
