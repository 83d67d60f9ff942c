import AsyncHTTPClient
import FoundationEssentials
import HTTPTypes
import PipelineHTTP
import PipelineTesting
import Testing

@Suite("Transfers through AsyncHTTPClient that go wrong", .timeLimit(.minutes(5)))
struct TransferFailureTests {
    let origin: ScriptedOrigin
    let local = LocalClient(maximumBodyBytes: 100_000)

    init() throws { origin = try ScriptedOrigin() }

    /// A client for tests in which an origin falls silent.
    private var impatient: LocalClient {
        var configuration = HTTPClient.Configuration.patient
        configuration.timeout.read = .milliseconds(500)
        return LocalClient(configuration)
    }

    @Test("An origin that never answers has timed out; the error names it without query values")
    func silent() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in ScriptedOrigin.Reply().held(until: gate) }
        let error = await failure(.timedOut) { try await impatient.get(origin.url("/?token=secret")) }
        #expect(error?.message.hasPrefix("127.0.0.1:\(origin.port) took too long") == true)
        #expect(error?.subject == "http://127.0.0.1:\(origin.port)/?token=…")
        try await connectionsEnd(to: origin.port)
    }

    @Test("A body that stops coming has timed out, after what came was read, and stays failed")
    func stalledBody() async throws {
        origin.route("/") { _ in .init(body: "0123456789").stalled(after: 4) }
        let impatient = impatient
        let response = try await impatient.client.send(TransferRequest(url: origin.url("/")))
        var read: [UInt8] = []
        _ = await failure(.timedOut) { for try await chunk in response.body { read += chunk } }
        #expect(read == Array("0123".utf8))
        _ = await failure(.timedOut) { try await response.bytes() }
    }

    @Test("An origin that keeps sending has timed out as well when the total time is over")
    func overdue() async throws {
        let local = LocalClient(totalTimeout: .milliseconds(100), maximumBodyBytes: .max)
        origin.route("/") { _ in .endless([UInt8](repeating: 1, count: 100)) }
        let error = await failure(.timedOut) { try await local.get(origin.url("/")) }
        #expect(error?.message.contains("did not finish within 0.1 seconds") == true)
        try await connectionsEnd(to: origin.port)
    }

    @Test("A body that nobody reads ends with the total time too")
    func overdueUnread() async throws {
        let local = LocalClient(totalTimeout: .milliseconds(500))
        origin.route("/") { _ in .init(body: "0123456789").stalled(after: 4) }
        _ = await failure(.timedOut) {
            let response = try await local.client.send(TransferRequest(url: origin.url("/")))
            try await connectionsEnd(to: origin.port)
            return try await response.bytes()
        }
    }

    @Test("A port where nothing listens, and a name without an address, are unreachable")
    func unreachable() async throws {
        let port = origin.port
        origin.stop()
        let error = await failure(.unreachable) {
            try await local.get(#require(URL(string: "http://127.0.0.1:\(port)/")))
        }
        #expect(error?.message.hasPrefix("127.0.0.1:\(port) can't be reached") == true)
        #expect(error?.isPermanent == false)
        #expect(error?.underlying != nil)
        _ = await failure(.unreachable) { try await local.get(#require(URL(string: "http://nowhere.invalid/"))) }
    }

    @Test(
        "A body cut off before its end is an error",
        arguments: [
            ScriptedOrigin.Reply(body: "0123456789").cut(after: 4),
            .chunked([[1, 2, 3], [4, 5, 6]]).cut(after: 9),
            .raw(""),
        ])
    func truncated(reply: ScriptedOrigin.Reply) async throws {
        origin.script("/", reply, .init(body: "whole"))
        _ = await failure(.unreachable) { try await local.get(origin.url("/")) }
        #expect(try await local.get(origin.url("/")).body == Array("whole".utf8))
    }

    @Test(
        "A response that breaks the rules of HTTP/1.1 is malformed",
        arguments: [
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nxy",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nxy",
            "HTTP/1.1 200 OK\r\nContent-Length: one\r\n\r\nxy",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 200_000) + "\r\n\r\n",
            "hello",
        ])
    func malformed(answer: String) async throws {
        origin.route("/") { _ in .raw(answer) }
        let error = await failure(.malformedResponse) { try await local.get(origin.url("/")) }
        #expect(error?.message.hasPrefix("127.0.0.1:\(origin.port) broke HTTP's rules") == true)
    }

    @Test("A body declared too large is refused by its head, and one without a declared length is counted")
    func tooLarge() async throws {
        let endless = ScriptedOrigin.Reply.endless([UInt8](repeating: 7, count: 10_000))
        let declared = ScriptedOrigin.Reply(headers: [.contentLength: "100001"]).stalled()
        origin.script("/", declared, .chunked([[UInt8](repeating: 7, count: 100_001)]), endless)
        let error = await failure(.tooManyBytes) { try await local.client.send(TransferRequest(url: origin.url("/"))) }
        #expect(error?.message.contains("declares 100001 bytes, and 100000 are allowed") == true)
        for _ in 0..<2 { _ = await failure(.tooManyBytes) { try await local.get(origin.url("/")) } }
        try await connectionsEnd(to: origin.port)
        origin.script("/", .chunked([[UInt8](repeating: 7, count: 100_000)]))
        #expect(try await local.get(origin.url("/")).body.count == 100_000)
    }
}
