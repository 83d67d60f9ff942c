import FleetServers
import Foundation
import HTTPTypes
import PipelineTesting
import Testing

@Suite("pipectl fetch --stdio --shared", .withRedis, .timeLimit(.minutes(5)))
struct SharedStdioTests {
    private let pipectl: Pipectl
    private let server: RedisServer

    init() throws {
        pipectl = try Pipectl()
        server = try RedisServer()
    }

    /// A coprocess whose responses are in Redis.
    private func start() async throws -> Coprocess {
        let coprocess = try Coprocess(pipectl, "--shared", "unix://\(server.socket)")
        #expect(try await coprocess.next()?["ready"] as? Bool == true)
        return coprocess
    }

    private func response(
        _ coprocess: Coprocess, _ url: URL, _ fields: [String: String] = [:], id: Int = 1
    ) async throws -> [String: Any] {
        try coprocess.send(id, url, ["headers": fields.map { [$0.key, $0.value] }])
        return try #require(try await coprocess.next())
    }

    private func fields(_ fields: [String: String]) throws -> HTTPFields {
        var all = HTTPFields()
        for (name, value) in fields { all[try #require(HTTPField.Name(name))] = value }
        return all
    }

    @Test(
        "stores by the rules of a shared cache, and other processes find it",
        arguments: [
            // RFC 9111 section 5.2.2.7.
            ("private", [:], false), ("private, max-age=60", [:], false), ("public, max-age=60", [:], true),
            // Section 5.2.2.10: s-maxage overrides max-age, and Expires.
            ("max-age=60, s-maxage=0", [:], false), ("max-age=0, s-maxage=60", [:], true), ("s-maxage=60", [:], true),
            // Section 3.5.
            ("max-age=60", ["Authorization": "Basic eA=="], false),
            ("max-age=60, proxy-revalidate", ["Authorization": "Basic eA=="], false),
            ("max-age=60, public", ["Authorization": "Basic eA=="], true),
            ("max-age=60, must-revalidate", ["Authorization": "Basic eA=="], true),
            ("s-maxage=60", ["Authorization": "Basic eA=="], true),
            // Section 5.2.3: extensions that it doesn't know change nothing.
            ("max-age=60, unknown=\"private, no-store\"", [:], true),
            ("private, max-age=60, community=\"x\"", [:], false),
        ] as [(String, [String: String], Bool)])
    func storing(_ directives: String, _ sent: [String: String], _ isStored: Bool) async throws {
        let headers = try fields(["Cache-Control": directives, "Expires": "Thu, 01 Jan 1970 00:00:00 GMT"])
        let origin = try ScriptedOrigin { _ in .init(headers: headers, body: "body") }
        for round in 0..<2 {
            let coprocess = try await start()
            let found = try await response(coprocess, origin.url("/a"), sent)
            #expect(found["fromCache"] as? String == (round == 1 && isStored ? "hit" : "miss"))
            #expect(found["body64"] as? String == Data("body".utf8).base64EncodedString())
        }
        #expect(origin.log.requests.count == (isStored ? 1 : 2))
    }

    @Test(
        "obeys CDN-Cache-Control instead of Cache-Control and Expires",
        arguments: [
            // RFC 9213 section 2.2.
            ("max-age=60", "no-store", true), ("max-age=60", "private", true), ("max-age=0", "max-age=60", false),
            ("no-store", "max-age=60", false), ("private", "max-age=60", false), ("no-cache", "max-age=60", false),
            // Section 2.1: fields that aren't dictionaries, or empty, are ignored.
            ("max-age=60, &&&", "no-store", false), ("max-age=60, &&&", "max-age=60", true), ("", "max-age=60", true),
            ("max-age=\"60\"", "no-store", false), ("max-age=60, other=?0;x, more=(a b)", "no-store", true),
        ])
    func targeted(_ directives: String, _ others: String, _ isStored: Bool) async throws {
        let headers = try fields([
            "CDN-Cache-Control": directives, "Cache-Control": others, "Expires": "Thu, 01 Jan 1970 00:00:00 GMT",
        ])
        let origin = try ScriptedOrigin { _ in .init(headers: headers, body: "body") }
        let coprocess = try await start()
        _ = try await response(coprocess, origin.url("/a"))
        let found = try await response(coprocess, origin.url("/a"), id: 2)
        #expect(found["fromCache"] as? String == (isStored ? "hit" : "miss"))
    }

    @Test("answers everyone with a response to a request with Authorization that says so", arguments: [false, true])
    func authorization(_ isPublic: Bool) async throws {
        let headers = try fields(["Cache-Control": "max-age=60" + (isPublic ? ", public" : "")])
        let origin = try ScriptedOrigin { _ in .init(headers: headers, body: "body") }
        let coprocess = try await start()
        _ = try await response(coprocess, origin.url("/a"), ["Authorization": "Basic eA=="])
        let found = try await response(coprocess, origin.url("/a"), id: 2)
        #expect(found["fromCache"] as? String == (isPublic ? "hit" : "miss"))
    }

    @Test(
        "stores a response with Set-Cookie only if it says public",
        arguments: [("max-age=60", "miss"), ("s-maxage=60", "miss"), ("public, max-age=60", "hit")])
    func cookies(_ control: String, _ use: String) async throws {
        let headers = try fields(["Cache-Control": control, "Set-Cookie": "session=1"])
        let origin = try ScriptedOrigin { _ in .init(headers: headers, body: "body") }
        for expected in ["miss", use] {
            let found = try await response(try await start(), origin.url("/a"))
            #expect(found["fromCache"] as? String == expected)
            let names = (found["headers"] as? [[String]])?.map { $0[0].lowercased() } ?? []
            #expect(names.contains("set-cookie"))
        }
        // A browser has one user.
        let browser = try Coprocess(pipectl)
        _ = try await browser.next()
        _ = try await response(browser, origin.url("/a"))
        let expected = control.contains("max-age=60") && !control.hasPrefix("s-") ? "hit" : "miss"
        #expect(try await response(browser, origin.url("/a"), id: 2)["fromCache"] as? String == expected)
    }

    @Test("stores no cookie of a confirmation, which reaches the one who asked")
    func confirmedCookie() async throws {
        let headers = try fields(["Cache-Control": "s-maxage=60", "ETag": "\"1\""])
        let (stale, cookie) = (try fields(["Age": "100"]), try fields(["Set-Cookie": "session=1"]))
        let origin = try ScriptedOrigin { request in
            request.headers[.ifNoneMatch] == nil
                ? .init(headers: headers.merging(stale), body: "body")
                : .init(status: 304, headers: headers.merging(cookie))
        }
        for (use, hasCookie) in [("miss", false), ("revalidated", true), ("miss", false)] {
            let found = try await response(try await start(), origin.url("/a"))
            #expect(found["fromCache"] as? String == use)
            let names = (found["headers"] as? [[String]])?.map { $0[0].lowercased() } ?? []
            #expect(names.contains("set-cookie") == hasCookie)
        }
    }

    @Test("asks the origin once for eight processes that want the same at the same time")
    func leases() async throws {
        let gate = try ScriptedOrigin.Gate()
        let headers = try fields(["Cache-Control": "max-age=60"])
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Reply(headers: headers, body: "body").held(until: gate) }
        var coprocesses: [Coprocess] = []
        for _ in 0..<8 { coprocesses.append(try await start()) }
        for coprocess in coprocesses { try coprocess.send(1, origin.url("/a"), ["headers": []]) }
        // All others listen for the end of the holder's lease.
        while try listeners() != ":7", origin.log.requests.count < 2 { await Task.yield() }
        gate.open()
        var uses: [String] = []
        for coprocess in coprocesses {
            let found = try #require(try await coprocess.next())
            #expect(found["body64"] as? String == Data("body".utf8).base64EncodedString())
            uses.append(found["fromCache"] as? String ?? "")
        }
        #expect(uses.sorted() == Array(repeating: "hit", count: 7) + ["miss"])
        #expect(origin.log.requests.count == 1)
    }

    /// How many processes wait for the leases of others.
    private func listeners() throws -> String {
        try server.send(
            "EVAL \"local count = 0 for _, name in ipairs(redis.call('PUBSUB', 'CHANNELS', '*:d:*')) do "
                + "count = count + redis.call('PUBSUB', 'NUMSUB', name)[2] end return count\" 0")
    }

    @Test("leaves out the fields that a qualified private names, and stores the rest")
    func qualifiedPrivate() async throws {
        let headers = try fields(["Cache-Control": "max-age=60, private=\"x-secret\"", "X-Secret": "1", "X-Open": "2"])
        let origin = try ScriptedOrigin { _ in .init(headers: headers, body: "body") }
        let coprocess = try await start()
        _ = try await response(coprocess, origin.url("/a"))
        let found = try await response(coprocess, origin.url("/a"), id: 2)
        #expect(found["fromCache"] as? String == "hit")
        let names = (found["headers"] as? [[String]])?.map { $0[0].lowercased() } ?? []
        #expect(names.contains("x-open") && names.contains("age") && !names.contains("x-secret"))
    }

    @Test(
        "serves nothing stale that a shared cache must not, though the origin can't be reached",
        arguments: [
            // RFC 9111 sections 4.2.4, 5.2.2.8 and 5.2.2.10.
            ("max-age=60", 200), ("max-age=60, proxy-revalidate", 504), ("s-maxage=60", 504),
            ("max-age=60, must-revalidate", 504),
        ])
    func stale(_ directives: String, _ status: Int) async throws {
        let headers = try fields(["Cache-Control": directives, "Age": "100", "ETag": "\"1\""])
        let origin = try ScriptedOrigin { _ in .init(headers: headers, body: "body") }
        let coprocess = try await start()
        let url = origin.url("/a")
        #expect(try await response(coprocess, url)["status"] as? Int == 200)
        origin.stop()
        #expect(try await response(coprocess, url, id: 2)["status"] as? Int == status)
    }

    @Test("confirms a stale response for all processes, and selects by Vary")
    func confirming() async throws {
        let headers = try fields(["Cache-Control": "s-maxage=60", "ETag": "\"1\"", "Vary": "Accept-Language"])
        let stale = try fields(["Age": "100"])
        let origin = try ScriptedOrigin { request in
            request.headers[.ifNoneMatch] == nil
                ? .init(headers: headers.merging(stale), body: "body") : .init(status: 304, headers: headers)
        }
        for (language, use) in [("de", "miss"), ("de", "revalidated"), ("de", "hit"), ("fr", "miss")] {
            let coprocess = try await start()
            let found = try await response(coprocess, origin.url("/a"), ["Accept-Language": language])
            #expect(found["fromCache"] as? String == use)
        }
    }

    @Test("makes what an unsafe request has changed invalid for all processes")
    func unsafe() async throws {
        let headers = try fields(["Cache-Control": "max-age=60"])
        let origin = try ScriptedOrigin { _ in .init(headers: headers, body: "body") }
        let (first, second) = (try await start(), try await start())
        _ = try await response(first, origin.url("/a"))
        #expect(try await response(second, origin.url("/a"))["fromCache"] as? String == "hit")
        try first.send(2, origin.url("/a"), ["method": "DELETE"])
        _ = try await first.next()
        #expect(try await response(second, origin.url("/a"), id: 2)["fromCache"] as? String == "miss")
    }
}

extension HTTPFields {
    fileprivate func merging(_ other: HTTPFields) -> HTTPFields {
        var all = self
        all.append(contentsOf: other)
        return all
    }
}
