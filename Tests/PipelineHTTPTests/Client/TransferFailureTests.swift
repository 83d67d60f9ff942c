import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("Transfers that go wrong", .timeLimit(.minutes(5)))
struct TransferFailureTests {
    let origin: ScriptedOrigin
    let client: CurlClient
    /// The same, for tests in which an origin falls silent.
    let impatient: CurlClient

    init() throws {
        origin = try ScriptedOrigin()
        var options = CurlClient.Options.local
        options.maximumBodyBytes = 100_000
        client = CurlClient(options)
        options.stallTimeout = .milliseconds(100)
        impatient = CurlClient(options)
    }

    @Test("An origin that never answers has timed out")
    func silent() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in ScriptedOrigin.Reply().held(until: gate) }
        let error = await failure(.timedOut) { try await impatient.get(origin.url("/?token=secret")) }
        #expect(
            error?.message == "127.0.0.1:\(origin.port) sent nothing for 0.1 s. Try again later, or raise stallTimeout."
        )
        #expect(error?.subject == "http://127.0.0.1:\(origin.port)/?token=…")
        await origin.until { $0.abandoned == 1 }
    }

    @Test("A body that stops coming has timed out, after what came was read")
    func stalledBody() async throws {
        origin.route("/") { _ in .init(body: "0123456789").stalled(after: 4) }
        let response = try await impatient.send(TransferRequest(url: origin.url("/")))
        var read: [UInt8] = []
        let error = await failure(.timedOut) { for try await chunk in response.body { read += chunk } }
        #expect(read == Array("0123".utf8))
        #expect(error?.message.contains("stallTimeout") == true)
        // What has failed once stays failed.
        _ = await failure(.timedOut) { try await response.bytes() }
    }

    @Test("An origin that keeps sending has timed out as well when the total time is over")
    func overdue() async throws {
        var options = client.options
        options.totalTimeout = .milliseconds(100)
        options.maximumBodyBytes = .max
        origin.route("/") { _ in .endless([UInt8](repeating: 1, count: 100)) }
        let error = await failure(.timedOut) { try await CurlClient(options).get(origin.url("/")) }
        #expect(error?.message.contains("totalTimeout") == true)
    }

    @Test("Redirects do not prolong the total time")
    func overdueAcrossRedirects() async throws {
        var options = client.options
        options.totalTimeout = .milliseconds(150)
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in .redirect(to: "/held") }
        origin.route("/held") { _ in ScriptedOrigin.Reply().held(until: gate) }
        let error = await failure(.timedOut) { try await CurlClient(options).get(origin.url("/")) }
        #expect(error?.message.contains("totalTimeout") == true)
    }

    @Test("A host that takes no connection in time has timed out, and the message names the setting")
    func connectTimeout() async throws {
        let full = try FullListener()
        var options = client.options
        options.connectTimeout = .milliseconds(100)
        let url = try #require(URL(string: "http://127.0.0.1:\(full.port)/"))
        let error = await failure(.timedOut) { try await CurlClient(options).get(url) }
        #expect(error?.message.contains("127.0.0.1:\(full.port) did not answer within 0.1 s") == true)
        #expect(error?.message.contains("connectTimeout") == true)
    }

    @Test("A port where nothing listens is unreachable")
    func refusedConnection() async throws {
        let port = origin.port
        origin.stop()
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        let error = await failure(.unreachable) { try await client.get(url) }
        #expect(error?.message.hasPrefix("127.0.0.1:\(port) accepts no connection") == true)
        #expect(error?.underlying is CurlFailure)
    }

    @Test("A name without an address is unreachable")
    func unknownName() async throws {
        let url = try #require(URL(string: "http://nowhere.invalid/"))
        let error = await failure(.unreachable) { try await client.get(url) }
        #expect(error?.message.hasPrefix("nowhere.invalid:80 can't be found") == true)
    }

    @Test("A body cut off before its declared end is an error")
    func truncated() async throws {
        origin.route("/") { _ in .init(body: "0123456789").cut(after: 4) }
        let error = await failure(.unreachable) { try await client.get(origin.url("/")) }
        #expect(error?.message.contains("closed the connection after 4 bytes") == true)
    }

    @Test("A chunked body cut off before its last chunk is an error")
    func truncatedChunks() async throws {
        origin.route("/") { _ in .chunked([[1, 2, 3], [4, 5, 6]]).cut(after: 9) }
        _ = await failure(.unreachable) { try await client.get(origin.url("/")) }
    }

    @Test("A request that is not idempotent is sent once, even where a kept connection dies (RFC 9110 section 9.2.2)")
    func postIsSentOnce() async throws {
        origin.route("/") { request in request.method == "GET" ? .init(body: "x") : .raw("") }
        _ = try await client.get(origin.url("/"))
        _ = await failure(.unreachable) {
            try await client.send(TransferRequest(method: .post, url: origin.url("/"), body: [1]))
        }
        #expect(origin.log.requests.map(\.method) == ["GET", "POST"])
    }

    @Test("A connection closed without a response is unreachable")
    func noAnswer() async throws {
        origin.route("/") { _ in .raw("") }
        let error = await failure(.unreachable) { try await client.get(origin.url("/")) }
        #expect(error?.message.contains("without a response") == true)
    }

    @Test(
        "A response that breaks the rules of HTTP/1.1 is malformed",
        arguments: [
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: unheard-of\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nxy",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nxy",
            "HTTP/1.1 200 OK\r\nContent-Length: one\r\n\r\nxy",
            "HTTP/1.1 099 OK\r\nContent-Length: 1\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
            "hello",
            "SSH-2.0-OpenSSH_9.2\r\n",
        ])
    func malformed(answer: String) async throws {
        origin.route("/") { _ in .raw(answer) }
        let error = await failure(.malformedResponse) { try await client.get(origin.url("/")) }
        #expect(error?.message.hasPrefix("127.0.0.1:\(origin.port) broke HTTP's rules: ") == true)
    }

    @Test("A head of too many fields, of too many bytes or with too long a field is malformed")
    func headerBombs() async throws {
        origin.script("/many", .headerBomb(fields: 70_000))
        origin.script("/large", .headerBomb(fields: 500, valueBytes: 1000))
        origin.script("/long", .headerBomb(fields: 1, valueBytes: 200_000))
        for path in ["/many", "/large", "/long"] {
            let error = await failure(.malformedResponse) { try await client.get(origin.url(path)) }
            #expect(error?.message.contains("its header") == true)
        }
        origin.script("/most", .headerBomb(fields: 990))
        #expect(try await client.get(origin.url("/most")).response.headers.count == 991)
    }

    @Test("Interim responses without end are malformed")
    func endlessInterim() async throws {
        origin.route("/") { _ in
            .raw(String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 10_000))
        }
        _ = await failure(.malformedResponse) { try await client.get(origin.url("/")) }
    }

    @Test("A body declared too large is refused by its head, before a byte of it is read")
    func declaredTooLarge() async throws {
        origin.route("/") { _ in ScriptedOrigin.Reply(headers: [.contentLength: "100001"]).stalled() }
        let error = await failure(.tooManyBytes) { try await client.send(TransferRequest(url: origin.url("/"))) }
        #expect(error?.message.contains("declares 100001 bytes, and 100000 are allowed") == true)
    }

    @Test("A body without a declared length is counted", arguments: [100_000, 100_001])
    func undeclaredTooLarge(count: Int) async throws {
        origin.route("/") { _ in .chunked([[UInt8](repeating: 7, count: count)]) }
        if count > 100_000 {
            let error = await failure(.tooManyBytes) { try await client.get(origin.url("/")) }
            #expect(error?.message.contains("sends more than 100000 bytes") == true)
        } else {
            #expect(try await client.get(origin.url("/")).body.count == count)
        }
    }

    @Test("An endless body ends at the limit")
    func endless() async throws {
        origin.route("/") { _ in .endless([UInt8](repeating: 7, count: 10_000)) }
        _ = await failure(.tooManyBytes) { try await client.get(origin.url("/")) }
        await origin.until { $0.abandoned == 1 }
    }

    @Test("Decompressed bytes count: a small body that swells is too large")
    func decompressionBomb() async throws {
        let zeros = gzipOfZeros(megabytes: 10)
        origin.route("/") { _ in .init(headers: [.contentEncoding: "gzip"], body: zeros) }
        var options = client.options
        options.decompress = true
        let bomb = CurlClient(options)
        let error = await failure(.tooManyBytes) { try await bomb.get(origin.url("/")) }
        #expect(error?.message.contains("100000") == true)
        // Compressed it is small, and a client that does not decompress may have it.
        #expect(try await client.get(origin.url("/")).body.count < 100_000)
    }

    @Test("What claims to be compressed and isn't is malformed")
    func brokenCompression() async throws {
        origin.route("/") { _ in .init(headers: [.contentEncoding: "gzip"], body: "not gzip at all") }
        var options = client.options
        options.decompress = true
        _ = await failure(.malformedResponse) { try await CurlClient(options).get(origin.url("/")) }
    }

    @Test("After a failure the client continues")
    func goesOn() async throws {
        origin.script("/", .init(body: "0123456789").cut(after: 1), .init(body: "whole"))
        _ = await failure(.unreachable) { try await client.get(origin.url("/")) }
        #expect(try await client.get(origin.url("/")).body == Array("whole".utf8))
    }
}
