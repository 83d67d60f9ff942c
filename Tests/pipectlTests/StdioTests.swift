import Foundation
import HTTPTypes
import PipelineTesting
import Testing

@Suite("pipectl fetch --stdio")
struct StdioTests {
    private let pipectl: Pipectl

    init() throws { pipectl = try Pipectl() }

    private func start() async throws -> Coprocess {
        let coprocess = try Coprocess(pipectl)
        let ready = try await coprocess.next()
        #expect(ready?["ready"] as? Bool == true)
        #expect(ready?["name"] as? String == "pipectl 0.1")
        return coprocess
    }

    @Test("says that it is ready, answers from the origin and then from the cache, and ends with its input")
    func hit() async throws {
        let origin = try ScriptedOrigin { _ in
            .init(headers: [.cacheControl: "max-age=60", .contentType: "text/x"], body: "body")
        }
        let coprocess = try await start()
        try coprocess.send(7, origin.url("/a"))
        let miss = try #require(try await coprocess.next())
        #expect(miss["id"] as? Int == 7)
        #expect(miss["status"] as? Int == 200)
        #expect(miss["fromCache"] as? String == "miss")
        #expect(miss["body64"] as? String == Data("body".utf8).base64EncodedString())
        #expect((miss["interim"] as? [Any])?.count == 0)
        try coprocess.send(8, origin.url("/a"))
        let hit = try #require(try await coprocess.next())
        #expect(hit["fromCache"] as? String == "hit")
        #expect(hit["statusText"] as? String == "OK")
        let headers = try #require(hit["headers"] as? [[String]])
        #expect(headers.contains { $0[0].lowercased() == "age" })
        #expect(headers.contains(["Content-Type", "text/x"]))
        try coprocess.endInput()
        #expect(try await coprocess.next() == nil)
        #expect(await coprocess.status() == 0)
        #expect(origin.log.requests.count == 1)
    }

    @Test("keeps any number in flight and answers in any order")
    func anyOrder() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .init(body: "last") }
        for number in 0..<30 {
            origin.route("/slow\(number)") { _ in ScriptedOrigin.Reply(body: "x").held(until: gate) }
        }
        let coprocess = try await start()
        for number in 0..<30 { try coprocess.send(number, origin.url("/slow\(number)")) }
        try coprocess.send(99, origin.url("/fast"))
        #expect(try await coprocess.next()?["id"] as? Int == 99)
        // All of them are under way, not in a queue.
        await origin.until { $0.requests.count == 31 }
        try coprocess.endInput()
        gate.open()
        var ids: Set<Int> = []
        while let answer = try await coprocess.next() { ids.insert(try #require(answer["id"] as? Int)) }
        #expect(ids == Set(0..<30))
        #expect(await coprocess.status() == 0)
    }

    @Test("cancels a request, which is answered with an error, and leaves the others alone")
    func cancel() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Reply(body: "x").held(until: gate) }
        let coprocess = try await start()
        try coprocess.send(1, origin.url("/a"))
        try coprocess.send(2, origin.url("/b"))
        await origin.until { $0.requests.count == 2 }
        try coprocess.write(#"{"id":1,"cancel":true}"#)
        try coprocess.write(#"{"id":5,"cancel":true}"#)
        let cancelled = try #require(try await coprocess.next())
        #expect(cancelled["id"] as? Int == 1)
        #expect(cancelled["error"] as? String == "cancelled")
        gate.open()
        #expect(try await coprocess.next()?["id"] as? Int == 2)
        try coprocess.endInput()
        #expect(await coprocess.status() == 0)
    }

    @Test("passes values as ISO-8859-1 both ways, fields in their order, and bodies of any bytes")
    func bytes() async throws {
        let origin = try ScriptedOrigin { request in
            var fields = HTTPFields()
            for field in request.headers where field.name.rawName.hasPrefix("X-") { fields.append(field) }
            return .init(headers: fields, body: request.body)
        }
        let coprocess = try await start()
        let pairs = [["X-One", "a\u{e9}\u{ff}b"], ["X-Two", ""], ["X-One", "tab\there"]]
        let body = Data((0...255).map { UInt8($0) }).base64EncodedString()
        try coprocess.send(1, origin.url("/a"), ["method": "POST", "headers": pairs, "body64": body])
        let answer = try #require(try await coprocess.next())
        #expect((answer["headers"] as? [[String]])?.filter { $0[0].hasPrefix("X-") } == pairs)
        #expect(answer["body64"] as? String == body)
        #expect(answer["fromCache"] as? String == "none")
        #expect(origin.log.requests.first?.headers.contains(.cookie) == false)
        #expect(origin.log.requests.first?.headers.contains(.acceptEncoding) == false)
        try coprocess.endInput()
        #expect(await coprocess.status() == 0)
    }

    @Test(
        "answers a line that can't be used with what is wrong, and continues",
        arguments: [
            (#"{"id":3,"url":"ftp://127.0.0.1/"}"#, 3, "ftp"), (#"{"id":3}"#, 3, "url"),
            (#"{"id":3,"url":5}"#, 3, "url"),
            ("nonsense", nil, "id"), (#"{"url":"http://127.0.0.1/"}"#, nil, "id"),
            (#"{"id":3,"url":"http://127.0.0.1/","headers":[["X-A","a\r\nB: c"]]}"#, 3, "X-A"),
            (#"{"id":3,"url":"http://127.0.0.1/","headers":[["X-A","\u20ac"]]}"#, 3, "X-A"),
            (#"{"id":3,"url":"http://127.0.0.1/","headers":[["X A","a"]]}"#, 3, "X A"),
            (#"{"id":3,"url":"http://127.0.0.1/","headers":[["X-A"]]}"#, 3, "X-A"),
            (#"{"id":3,"url":"http://127.0.0.1/","cache":"sometimes"}"#, 3, "sometimes"),
            (#"{"id":3,"url":"http://127.0.0.1/","redirect":"maybe"}"#, 3, "maybe"),
            (#"{"id":3,"url":"http://127.0.0.1/","body64":"%"}"#, 3, "body64"),
            (#"{"id":3,"url":"http://127.0.0.1/","method":"G T"}"#, 3, "method"),
        ] as [(String, Int?, String)])
    func wrongLines(line: String, id: Int?, named: String) async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "body") }
        let coprocess = try await start()
        try coprocess.write("")
        try coprocess.write(line)
        let answer = try #require(try await coprocess.next())
        #expect(answer["id"] as? Int == id)
        #expect((answer["error"] as? String)?.contains(named) == true)
        try coprocess.send(4, origin.url("/a"))
        #expect(try await coprocess.next()?["status"] as? Int == 200)
        try coprocess.endInput()
        #expect(await coprocess.status() == 0)
    }

    @Test("hands redirects over when asked to, and gives 504 for what is not cached when only that is wanted")
    func modes() async throws {
        let origin = try ScriptedOrigin { _ in .redirect(to: "/b") }
        origin.route("/b") { _ in .init(body: "b") }
        let coprocess = try await start()
        try coprocess.send(1, origin.url("/a"), ["redirect": "manual"])
        #expect(try await coprocess.next()?["status"] as? Int == 302)
        try coprocess.send(2, origin.url("/a"), ["redirect": "follow", "method": "get"])
        #expect(try await coprocess.next()?["status"] as? Int == 200)
        try coprocess.send(3, origin.url("/c"), ["cache": "only-if-cached"])
        #expect(try await coprocess.next()?["status"] as? Int == 504)
        try coprocess.endInput()
        #expect(await coprocess.status() == 0)
    }

    @Test("finishes a revalidation that is under way when its input ends")
    func backgroundRevalidation() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin()
        origin.script(
            "/a", .init(headers: [.cacheControl: "max-age=0, stale-while-revalidate=60"], body: "old"),
            ScriptedOrigin.Reply(headers: [.cacheControl: "max-age=60"], body: "new").held(until: gate))
        let coprocess = try await start()
        try coprocess.send(1, origin.url("/a"))
        #expect(try await coprocess.next()?["fromCache"] as? String == "miss")
        try coprocess.send(2, origin.url("/a"))
        #expect(try await coprocess.next()?["fromCache"] as? String == "stale")
        try coprocess.endInput()
        await origin.until { $0.requests.count == 2 }
        gate.open()
        #expect(await coprocess.status() == 0)

        let next = try await start()
        try next.send(1, origin.url("/a"))
        let answer = try #require(try await next.next())
        #expect(answer["fromCache"] as? String == "hit")
        #expect(answer["body64"] as? String == Data("new".utf8).base64EncodedString())
        try next.endInput()
        #expect(await next.status() == 0)
    }

    @Test("SIGTERM ends it at once: what is in flight is answered as cancelled, on whole lines")
    func terminated() async throws {
        let origin = try ScriptedOrigin { _ in ScriptedOrigin.Reply(body: "x").stalled() }
        let coprocess = try await start()
        try coprocess.send(1, origin.url("/a"))
        await origin.until { $0.requests.count == 1 }
        coprocess.terminate()
        #expect(try await coprocess.next()?["error"] as? String == "cancelled")
        #expect(try await coprocess.next() == nil)
        #expect(await coprocess.status() == 143)
    }

    @Test("SIGTERM drops a revalidation that is under way after the input has ended")
    func terminatedInBackground() async throws {
        let origin = try ScriptedOrigin()
        origin.script(
            "/a", .init(headers: [.cacheControl: "max-age=0, stale-while-revalidate=60"], body: "old"),
            ScriptedOrigin.Reply(body: "new").stalled())
        let coprocess = try await start()
        for id in 1...2 {
            try coprocess.send(id, origin.url("/a"))
            #expect(try await coprocess.next()?["id"] as? Int == id)
        }
        try coprocess.endInput()
        await origin.until { $0.requests.count == 2 }
        coprocess.terminate()
        #expect(await coprocess.status() == 143)
    }

    @Test("--public-only refuses this machine")
    func publicOnly() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "body") }
        let coprocess = try Coprocess(pipectl, "--public-only")
        #expect(try await coprocess.next()?["ready"] as? Bool == true)
        try coprocess.send(1, origin.url("/a"))
        #expect((try await coprocess.next()?["error"] as? String)?.contains("127.0.0.1") == true)
        #expect(origin.log.requests.isEmpty)
        try coprocess.endInput()
        #expect(await coprocess.status() == 0)
    }
}
