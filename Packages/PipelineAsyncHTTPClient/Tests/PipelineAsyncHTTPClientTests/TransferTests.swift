import FoundationEssentials
import HTTPTypes
import PipelineHTTP
import PipelineTesting
import Testing

@Suite("Transfers through AsyncHTTPClient", .timeLimit(.minutes(5)))
struct TransferTests {
    let origin: ScriptedOrigin
    let local = LocalClient()

    init() throws { origin = try ScriptedOrigin() }

    @Test("A response has its status, fields, URL and bytes")
    func answer() async throws {
        origin.route("/a") { _ in
            .init(
                status: 203, reason: "Second Hand", headers: [.eTag: "\"1\"", .contentType: "image/png"], body: "bytes")
        }
        let (response, body) = try await local.get(origin.url("/a?q=1"))
        #expect(response.status == 203)
        #expect(response.headers[.eTag] == "\"1\"")
        #expect(response.headers[.contentLength] == "5")
        #expect(response.url == origin.url("/a?q=1"))
        #expect(body == Array("bytes".utf8))
        #expect(origin.log.requests.map(\.target) == ["/a?q=1"])
    }

    @Test("Only what was asked for is sent, besides Host and User-Agent")
    func sentFields() async throws {
        _ = try await local.get(origin.url("/"), headers: [.accept: "image/png"])
        let sent = try #require(origin.log.requests.first)
        #expect(sent.method == "GET")
        #expect(sent.headers.map(\.name.canonicalName).sorted() == ["accept", "host", "user-agent"])
        #expect(sent.headers[.userAgent] == "pipeline/0.1")
    }

    @Test("Fields keep their order both ways, twice if they are there twice, and without a value if they have none")
    func fieldsUnchanged() async throws {
        let (twice, empty) = (try #require(HTTPField.Name("X-Twice")), try #require(HTTPField.Name("X-Empty")))
        var headers = HTTPFields()
        headers.append(HTTPField(name: twice, value: "1"))
        headers.append(HTTPField(name: empty, value: ""))
        headers.append(HTTPField(name: twice, value: "zwei, drei é"))
        headers[.userAgent] = "mine"
        origin.route("/") { request in .init(headers: request.headers) }
        let back = try await local.get(origin.url("/"), headers: headers).response.headers
        for fields in [try #require(origin.log.requests.first?.headers), back] {
            #expect(fields.map(\.name.rawName).filter { $0.hasPrefix("X-") } == ["X-Twice", "X-Empty", "X-Twice"])
            #expect(fields[values: twice] == ["1", "zwei, drei é"])
            #expect(fields[values: .userAgent] == ["mine"])
        }
    }

    @Test("Content is sent with its length and no other field")
    func content() async throws {
        origin.route("/") { .init(body: $0.body) }
        let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try await local.get(origin.url("/"), method: .post, body: content).body == content)
        let sent = try #require(origin.log.requests.first)
        #expect(sent.method == "POST")
        #expect(sent.headers.map(\.name.canonicalName).sorted() == ["content-length", "host", "user-agent"])
    }

    @Test("Every method goes out by its name; the answer to HEAD has the length of a body that doesn't come")
    func methods() async throws {
        origin.route("/") { _ in .init(body: "12345") }
        for method in [HTTPRequest.Method.put, .delete, .options, .patch, .post, .head, .get] {
            let (response, body) = try await local.get(origin.url("/"), method: method)
            #expect(response.headers[.contentLength] == "5")
            #expect(body.count == (method == .head ? 0 : 5))
        }
        let methods = origin.log.requests.map(\.method)
        #expect(methods == ["PUT", "DELETE", "OPTIONS", "PATCH", "POST", "HEAD", "GET"])
    }

    @Test("Chunks are put together, a 304 has no body, and a body that ends with the connection is whole")
    func bodies() async throws {
        let unchanged = ScriptedOrigin.Reply(status: 304, headers: [.eTag: "\"1\"", .contentLength: "6"])
        let endsLate = ScriptedOrigin.Reply.raw("HTTP/1.1 200 OK\r\n\r\nuntil the end")
        origin.script("/", .chunked([[1, 2], [3], [4, 5, 6]]), unchanged, endsLate)
        #expect(try await local.get(origin.url("/")).body == [1, 2, 3, 4, 5, 6])
        let (response, body) = try await local.get(origin.url("/"))
        #expect(response.status == 304)
        #expect(body.isEmpty)
        #expect(try await local.get(origin.url("/")).body == Array("until the end".utf8))
        // What has been read is over.
        #expect(try await response.bytes().isEmpty)
    }

    @Test("Interim responses are passed over")
    func interim() async throws {
        let early = "HTTP/1.1 103 Early Hints\r\nServer: early\r\n\r\n"
        origin.route("/") { _ in .raw(early + "HTTP/1.1 200 OK\r\nETag: \"final\"\r\nContent-Length: 1\r\n\r\nx") }
        let (response, body) = try await local.get(origin.url("/"))
        #expect(response.status == 200)
        #expect(response.headers[.server] == nil)
        #expect(response.headers[.eTag] == "\"final\"")
        #expect(body.count == 1)
    }

    @Test("Compressed bodies stay as they were sent, with their fields")
    func compression() async throws {
        origin.route("/") { _ in .init(headers: [.contentEncoding: "gzip"], body: gzipOfHello) }
        let (response, bytes) = try await local.get(origin.url("/"))
        #expect(bytes == gzipOfHello)
        #expect(response.headers[.contentEncoding] == "gzip")
    }

    @Test("A user name and password in the URL are sent as Basic credentials (RFC 7617)")
    func basicCredentials() async throws {
        _ = try await local.get(try #require(URL(string: "http://user:pass%20word@127.0.0.1:\(origin.port)/")))
        #expect(origin.log.requests.first?.headers[.authorization] == "Basic dXNlcjpwYXNzIHdvcmQ=")
    }

    @Test("A redirect is returned, however many may be followed")
    func redirect() async throws {
        origin.route("/") { _ in .redirect(to: "/b") }
        let request = TransferRequest(url: origin.url("/"), maximumRedirects: 5)
        let response = try await local.client.send(request)
        #expect(response.status == 302)
        #expect(response.headers[.location] == "/b")
        #expect(origin.log.requests.count == 1)
    }

    @Test("Requests one after another share a connection, and many at once all end")
    func many() async throws {
        origin.route("/") { request in .init(body: request.target) }
        for _ in 0..<20 { _ = try await local.get(origin.url("/")) }
        #expect(origin.log.connections == 1)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<300 {
                let url = origin.url("/?\(index)")
                group.addTask { [local] in try await local.get(url).body == Array("/?\(index)".utf8) }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(origin.log.requests.count == 320)
    }
}

/// The gzip of `hello`.
let gzipOfHello: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 255, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
]
