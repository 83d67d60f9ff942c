import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Requests before they are sent", .timeLimit(.minutes(5)))
struct TransferRequestTests {
    let origin: ScriptedOrigin
    let client = CurlClient(.local)

    init() throws { origin = try ScriptedOrigin() }

    @Test(
        "A control character in a field's value is refused and nothing is sent",
        arguments: [0x01, 0x08, 0x0b, 0x1b, 0x7f])
    func controls(byte: UInt8) async throws {
        let name = try #require(HTTPField.Name("X-Name"))
        var headers = HTTPFields()
        headers.append(HTTPField(name: name, lenientValue: [0x61, byte, 0x62]))
        let error = await failure(.invalidHeader) { try await client.get(origin.url("/"), headers: headers) }
        #expect(error?.message.contains("X-Name") == true)
        #expect(origin.log.connections == 0)
    }

    @Test("A line break or NUL can't get into a field's value, and so no other field behind it")
    func fieldInjection() async throws {
        let name = try #require(HTTPField.Name("X-Name"))
        for value in ["a\r\nX-Other: b", "a\nX-Other: b", "a\rX-Other: b", "a\0X-Other: b"] {
            var headers = HTTPFields()
            headers.append(HTTPField(name: name, lenientValue: Array(value.utf8)))
            headers.append(HTTPField(name: .accept, value: value))
            _ = try? await client.get(origin.url("/"), headers: headers)
        }
        #expect(!origin.log.requests.isEmpty)
        #expect(
            origin.log.requests.allSatisfy {
                $0.headers.map(\.name.canonicalName).sorted() == ["accept", "host", "user-agent", "x-name"]
            })
    }

    @Test(
        "A line break or blank in a URL can't get into the request line",
        arguments: [
            "/\r\nX-Other: b", "/\nX-Other: b", "/ HTTP/1.1\r\nX-Other: b", "/\0", "/a b", "/?q=\r\nX-Other: b", "/\t",
        ])
    func urlInjection(path: String) async throws {
        // What can't be a URL at all can't be asked for.
        guard let url = URL(string: "http://127.0.0.1:\(origin.port)\(path)") else { return }
        _ = try? await client.get(url)
        for request in origin.log.requests {
            #expect(request.headers.map(\.name.canonicalName).sorted() == ["host", "user-agent"])
            #expect(!request.target.contains(" "))
        }
    }

    @Test("How content is framed is not the caller's to say")
    func framing() async throws {
        let url = origin.url("/")
        _ = await failure(.invalidHeader) { try await client.get(url, headers: [.transferEncoding: "chunked"]) }
        _ = await failure(.invalidHeader) { try await client.get(url, headers: [.contentLength: "5"]) }
        let wrong = TransferRequest(method: .post, url: url, headers: [.contentLength: "4"], body: Array("hello".utf8))
        _ = await failure(.invalidHeader) { try await client.send(wrong) }
        #expect(origin.log.connections == 0)
        let right = TransferRequest(method: .post, url: url, headers: [.contentLength: "5"], body: Array("hello".utf8))
        _ = try await client.send(right).bytes()
        #expect(origin.log.requests.first?.headers[values: .contentLength] == ["5"])
        #expect(origin.log.requests.first?.body == Array("hello".utf8))
    }

    @Test(
        "Only http and https are fetched",
        arguments: [
            "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "dict://127.0.0.1/", "ws://127.0.0.1/",
        ])
    func schemes(text: String) async throws {
        let url = try #require(URL(string: text))
        do {
            _ = try await client.get(url)
            Issue.record("\(text) was fetched.")
        } catch let error as LoadError {
            #expect([.unsupportedScheme, .invalidURL].contains(error.code))
        }
    }

    @Test("What has no host is not a URL to fetch", arguments: ["http:///a", "http:", "/a", "a", "http://:80/"])
    func hosts(text: String) async throws {
        guard let url = URL(string: text) else { return }
        _ = await failure(.invalidURL) { try await client.get(url) }
    }

    @Test(
        "A URL's host is what libcurl reads, in one spelling",
        arguments: [
            ("http://EXAMPLE.com/", "example.com:80"), ("https://example.com", "example.com:443"),
            ("http://a:b@example.com:8080/c@d", "example.com:8080"), ("http://2130706433/", "127.0.0.1:80"),
            ("http://[::FFFF:7F00:1]:81/", "[::ffff:7f00:1]:81"), ("http://0x7f.1/", "127.0.0.1:80"),
        ])
    func targets(text: String, target: String) throws {
        #expect(try CurlURL(#require(URL(string: text))).description == target)
    }
}
