import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("Transfers", .timeLimit(.minutes(5)))
struct CurlClientTests {
    let origin: ScriptedOrigin
    let client = CurlClient(.local)

    init() throws { origin = try ScriptedOrigin() }

    @Test("A reason phrase is visible ASCII of at most 100 characters, since it ends up on terminals and in logs")
    func reason() async throws {
        let phrase = "Bad \u{1B}]0;owned\u{7}\u{1B}[31m\u{202E}\u{9B}é\t " + String(repeating: "x", count: 300)
        origin.route("/a") { _ in .init(status: 500, reason: phrase) }
        let reason = try await client.get(origin.url("/a")).response.reason
        #expect(reason == "Bad ]0;owned[31m " + String(repeating: "x", count: 83))
    }

    @Test("A response has its status, reason, fields, URL and bytes")
    func answer() async throws {
        origin.route("/a") { _ in
            .init(
                status: 203, reason: "Second Hand", headers: [.eTag: "\"1\"", .contentType: "image/png"], body: "bytes")
        }
        let (response, body) = try await client.get(origin.url("/a?q=1"))
        #expect(response.status == 203)
        #expect(response.reason == "Second Hand")
        #expect(response.headers[.eTag] == "\"1\"")
        #expect(response.headers[.contentLength] == "5")
        #expect(response.url == origin.url("/a?q=1"))
        #expect(response.interim.isEmpty)
        #expect(body == Array("bytes".utf8))
        #expect(origin.log.requests.map(\.target) == ["/a?q=1"])
    }

    @Test("Only what was asked for is sent, besides Host and User-Agent")
    func sentFields() async throws {
        _ = try await client.get(origin.url("/"), headers: [.accept: "image/png"])
        let sent = try #require(origin.log.requests.first)
        #expect(sent.method == "GET")
        #expect(sent.headers.map(\.name.canonicalName).sorted() == ["accept", "host", "user-agent"])
        #expect(sent.headers[.userAgent] == "pipeline/0.1")
    }

    @Test("The caller's fields go out in their order, twice if given twice, and without a value if given so")
    func fieldsUnchanged() async throws {
        var headers = HTTPFields()
        let name = try #require(HTTPField.Name("X-Twice"))
        headers.append(HTTPField(name: name, value: "1"))
        headers.append(HTTPField(name: try #require(HTTPField.Name("X-Empty")), value: ""))
        headers.append(HTTPField(name: name, value: "2"))
        headers[.userAgent] = "mine"
        _ = try await client.get(origin.url("/"), headers: headers)
        let sent = try #require(origin.log.requests.first?.headers)
        #expect(sent.map(\.name.rawName).filter { $0.hasPrefix("X-") } == ["X-Twice", "X-Empty", "X-Twice"])
        #expect(sent[values: name] == ["1", "2"])
        #expect(sent[values: .userAgent] == ["mine"])
    }

    @Test("Field values are bytes, ISO-8859-1 or whatever, and pass unchanged both ways")
    func fieldBytes() async throws {
        let bytes: [UInt8] = [0x63, 0x61, 0x66, 0xe9, 0xff, 0x80]
        let name = try #require(HTTPField.Name("X-Name"))
        let field = HTTPField(name: name, lenientValue: bytes)
        origin.route("/") { request in
            var headers = HTTPFields()
            headers.append(contentsOf: request.headers[fields: name])
            return .init(headers: headers)
        }
        var headers = HTTPFields()
        headers.append(field)
        let (response, _) = try await client.get(origin.url("/"), headers: headers)
        let sent = try #require(origin.log.requests.first?.headers[fields: name].first)
        let back = try #require(response.headers[fields: name].first)
        #expect(sent.withUnsafeBytesOfValue { Array($0) } == bytes)
        #expect(back.withUnsafeBytesOfValue { Array($0) } == bytes)
    }

    @Test("Interim responses are handed over along with the final one and never mix with it")
    func interim() async throws {
        let reply = ScriptedOrigin.Reply(headers: [.eTag: "\"final\""], body: "x")
        origin.route("/") { _ in reply.interim(103, headers: [.server: "early"]).interim(102) }
        let (response, body) = try await client.get(origin.url("/"))
        #expect(response.status == 200)
        #expect(response.headers[.server] == nil)
        #expect(response.headers[.eTag] == "\"final\"")
        #expect(response.interim.map(\.status) == [102, 103])
        #expect(response.interim.last?.headers[.server] == "early")
        #expect(body.count == 1)
    }

    @Test("Content is sent with its length and no other field")
    func content() async throws {
        origin.route("/") { .init(body: $0.body) }
        let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) }
        let response = try await client.send(TransferRequest(method: .post, url: origin.url("/"), body: content))
        #expect(try await response.bytes() == content)
        let sent = try #require(origin.log.requests.first)
        #expect(sent.method == "POST")
        #expect(sent.headers.map(\.name.canonicalName).sorted() == ["content-length", "host", "user-agent"])
    }

    @Test("Every method goes out by its name; those that usually have content say that it is empty")
    func methods() async throws {
        for method in [HTTPRequest.Method.put, .delete, .options, .patch, .post, .head, .get] {
            _ = try await client.send(TransferRequest(method: method, url: origin.url("/"))).bytes()
        }
        let sent = origin.log.requests
        #expect(sent.map(\.method) == ["PUT", "DELETE", "OPTIONS", "PATCH", "POST", "HEAD", "GET"])
        #expect(sent.map { $0.headers[.contentLength] } == ["0", nil, nil, "0", "0", nil, nil])
    }

    @Test("The answer to HEAD has the length of a body that does not come")
    func head() async throws {
        origin.route("/") { _ in .init(body: "12345") }
        let response = try await client.send(TransferRequest(method: .head, url: origin.url("/")))
        #expect(response.headers[.contentLength] == "5")
        #expect(try await response.bytes().isEmpty)
    }

    @Test("Chunks are put together, and a 304 has no body")
    func chunks() async throws {
        origin.script("/", .chunked([[1, 2], [3], [4, 5, 6]]), .init(status: 304, headers: [.eTag: "\"1\""]))
        #expect(try await client.get(origin.url("/")).body == [1, 2, 3, 4, 5, 6])
        let (response, body) = try await client.get(origin.url("/"))
        #expect(response.status == 304)
        #expect(body.isEmpty)
    }

    @Test("Requests one after another share a connection")
    func keepAlive() async throws {
        origin.route("/") { _ in .init(body: "x") }
        for _ in 0..<20 { _ = try await client.get(origin.url("/")) }
        #expect(origin.log.connections == 1)
        #expect(Set(origin.log.requests.map(\.connection)) == [1])
    }

    @Test("A connection that the origin has closed meanwhile is replaced without an error")
    func closedConnection() async throws {
        origin.route("/") { _ in .init(body: "x").closing() }
        for count in 1...3 {
            #expect(try await client.get(origin.url("/")).body == Array("x".utf8))
            await origin.until { $0.closedConnections == count }
        }
        #expect(origin.log.connections == 3)
    }

    @Test("A body that ends with the connection is whole")
    func closeDelimited() async throws {
        origin.route("/") { _ in .raw("HTTP/1.1 200 OK\r\n\r\nuntil the end") }
        #expect(try await client.get(origin.url("/")).body == Array("until the end".utf8))
    }

    @Test("What is compressed stays so, unless decompression is asked for")
    func compression() async throws {
        // The gzip of `hello`.
        let zipped: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
        ]
        origin.route("/") { _ in .init(headers: [.contentEncoding: "gzip"], body: zipped) }
        let (raw, bytes) = try await client.get(origin.url("/"))
        #expect(bytes == zipped)
        #expect(raw.headers[.contentEncoding] == "gzip")
        #expect(origin.log.requests.first?.headers[.acceptEncoding] == nil)

        var options = CurlClient.Options.local
        options.decompress = true
        let (response, text) = try await CurlClient(options).get(origin.url("/"))
        #expect(text == Array("hello".utf8))
        #expect(response.headers[.contentEncoding] == nil)
        #expect(response.headers[.contentLength] == nil)
        #expect(origin.log.requests.last?.headers[.acceptEncoding]?.contains("gzip") == true)
    }

    @Test("A user name and password in the URL are sent as Basic credentials (RFC 7617)")
    func basicCredentials() async throws {
        let url = try #require(URL(string: "http://user:pass%20word@127.0.0.1:\(origin.port)/"))
        _ = try await client.get(url)
        #expect(origin.log.requests.first?.headers[.authorization] == "Basic dXNlcjpwYXNzIHdvcmQ=")
    }

    @Test("A folded field is one field, and one without a proper name is passed over")
    func oddFields() async throws {
        origin.route("/") { _ in
            .raw("HTTP/1.1 200 OK\r\nETag: \"a\r\n  b\"\r\nX Y: 1\r\n:status: 500\r\nContent-Length: 1\r\n\r\nx")
        }
        let (response, _) = try await client.get(origin.url("/"))
        #expect(response.status == 200)
        #expect(response.headers[.eTag] == "\"a b\"")
        #expect(response.headers.count == 2)
    }

    @Test("A body can be read after the client was let go, and requests after a shutdown fail")
    func ending() async throws {
        let gate = try ScriptedOrigin.Gate()
        origin.route("/") { _ in .init(body: "0123456789").held(until: gate, after: 4) }
        let response = try await CurlClient(.local).send(TransferRequest(url: origin.url("/")))
        gate.open()
        #expect(try await response.text() == "0123456789")

        let other = CurlClient(.local)
        _ = try await other.get(origin.url("/"))
        await other.shutdown()
        let error = await failure(.unreachable) { try await other.get(origin.url("/")) }
        #expect(error?.message.contains("shut down") == true)
        await CurlClient(.local).shutdown()
    }

    @Test("A shutdown fails what is under way")
    func shutdownUnderWay() async throws {
        origin.route("/") { _ in .init(body: "0123456789").stalled(after: 4) }
        let response = try await client.send(TransferRequest(url: origin.url("/")))
        await client.shutdown()
        _ = await failure(.unreachable) { try await response.bytes() }
        await origin.until { $0.abandoned == 1 }
    }

    @Test("A thousand transfers at once all end, on no more connections than are allowed to a host")
    func many() async throws {
        origin.route("/") { request in .init(body: request.target) }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<1000 {
                let url = origin.url("/?\(index)")
                group.addTask { [client] in try await client.get(url).body == Array("/?\(index)".utf8) }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(origin.log.requests.count == 1000)
        #expect(origin.log.connections <= client.options.maximumConnectionsPerHost)
    }
}
