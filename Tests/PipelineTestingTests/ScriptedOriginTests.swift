import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("The scripted origin", .timeLimit(.minutes(5)))
struct ScriptedOriginTests {
    let client = CurlClient(.local)

    @Test("A path's replies come in turn and the last one stays; another path is not found")
    func script() async throws {
        let origin = try ScriptedOrigin()
        origin.script("/a", .init(status: 500), .init(status: 503), .init(body: "here"))
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await client.get(origin.url("/a?query")).response.status) }
        #expect(statuses == [500, 503, 200, 200])
        #expect(try await client.get(origin.url("/b")).response.status == 404)
    }

    @Test("A route can be replaced while the origin runs")
    func reroute() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "otherwise") }
        origin.route("/a") { _ in .init(body: "old") }
        #expect(try await client.get(origin.url("/a")).body == Array("old".utf8))
        origin.route("/a") { _ in .init(body: "new") }
        #expect(try await client.get(origin.url("/a")).body == Array("new".utf8))
        #expect(try await client.get(origin.url("/b")).body == Array("otherwise".utf8))
    }

    @Test("What it was asked is in its log: method, target, fields, content and connection")
    func log() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "x") }
        let request = TransferRequest(
            method: .put, url: origin.url("/a?b=1"), headers: [.ifNoneMatch: "\"1\""], body: Array("content".utf8))
        _ = try await client.send(request).bytes()
        _ = try await CurlClient(.local).get(origin.url("/c"))
        let log = origin.log
        #expect(log.requests.map(\.method) == ["PUT", "GET"])
        #expect(log.requests.map(\.target) == ["/a?b=1", "/c"])
        #expect(log.requests.map(\.path) == ["/a", "/c"])
        #expect(log.requests.first?.headers[.ifNoneMatch] == "\"1\"")
        #expect(log.requests.first?.body == Array("content".utf8))
        #expect(log.requests.map(\.connection) == [1, 2])
        #expect(log.connections == 2)
        #expect(log.bytesSent == 2 * "HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\nx".utf8.count)
    }

    @Test("A gate holds replies, and lets them all go when it opens")
    func gate() async throws {
        let origin = try ScriptedOrigin()
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in .init(body: "x").held(until: gate) }
        let tasks = (0..<3).map { _ in Task { [client] in try await client.get(origin.url("/")).body } }
        await origin.until { $0.requests.count == 3 }
        #expect(origin.log.bytesSent == 0)
        gate.open()
        for task in tasks { #expect(try await task.value == Array("x".utf8)) }
        #expect(try await client.get(origin.url("/")).body == Array("x".utf8))
    }

    @Test("Stopping closes what is open and ends every wait")
    func stop() async throws {
        let origin = try ScriptedOrigin()
        origin.route("/") { _ in .init(body: "x").stalled() }
        let waiting = Task { await origin.until { $0.requests.count == 1000 } }
        let cancelled = Task { await origin.until { $0.requests.count == 1000 } }
        cancelled.cancel()
        await cancelled.value
        let response = try await client.send(TransferRequest(url: origin.url("/")))
        origin.stop()
        await waiting.value
        _ = await failure(.unreachable) { try await response.bytes() }
        #expect(origin.log.closedConnections == 1)
        origin.stop()
    }
}
