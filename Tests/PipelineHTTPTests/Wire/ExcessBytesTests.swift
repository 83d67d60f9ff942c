import Essentials
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("Bytes behind a response's end", .timeLimit(.minutes(5)))
struct ExcessBytesTests {
    private static let forged = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: 6\r\n\r\nforged"

    /// An origin that gives the last part of its URL, and a proxy for any host.
    private static func respond(to request: RawRequest, on connection: RawConnection) {
        let content = request.target.split(separator: "/").last ?? ""
        connection.send(
            "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(content.count)\r\n\r\n\(content)")
    }

    private func client(_ proxy: RawOrigin? = nil) -> CurlClient {
        var options = CurlClient.Options.local
        options.proxy = proxy.flatMap { URL(string: "http://127.0.0.1:\($0.port)") }
        return CurlClient(options)
    }

    private func url(_ path: String, _ origin: RawOrigin) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(origin.port)/\(path)"))
    }

    private func text(_ client: CurlClient, _ url: URL) async throws -> String {
        String(decoding: try await client.get(url).body, as: UTF8.self)
    }

    @Test(
        "A response that follows another unasked is given to nobody, and the next request gets a connection of its own")
    func late() async throws {
        let origin = try RawOrigin(Self.respond)
        let client = client()
        #expect(try await text(client, url("evil", origin)) == "evil")
        let connection = try #require(origin.connections.first)
        connection.send(Self.forged)
        connection.waitUntilDelivered()
        #expect(try await text(client, url("other", origin)) == "other")
        #expect(origin.requests.map(\.connection) == [1, 2])
        #expect(try await text(client, url("third", origin)) == "third")
        #expect(origin.requests.map(\.connection) == [1, 2, 2], "what is quiet is used again")
    }

    @Test(
        "Whatever comes in one write with a response's end is dropped with the connection",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n",
        ])
    func together(response: String) async throws {
        let origin = try RawOrigin { request, connection in
            guard request.target == "/evil" else { return Self.respond(to: request, on: connection) }
            connection.send(response + Self.forged)
        }
        let client = client()
        _ = try await text(client, url("evil", origin))
        // More of it may be on its way.
        try #require(origin.connections.first).send(Self.forged)
        #expect(try await text(client, url("other", origin)) == "other")
        #expect(origin.requests.map(\.connection) == [1, 2])
    }

    @Test("The content of a response to HEAD is never the response to the next request")
    func head() async throws {
        let origin = try RawOrigin { request, connection in
            Self.respond(to: request, on: connection)
        }
        let client = client()
        #expect(try await client.send(TransferRequest(method: .head, url: url("evil", origin))).bytes().isEmpty)
        #expect(try await text(client, url("other", origin)) == "other")
        #expect(origin.requests.map(\.connection) == [1, 2])
    }

    @Test("An origin that has closed a kept connection costs one attempt that nobody sees")
    func closed() async throws {
        let origin = try RawOrigin(Self.respond)
        let client = client()
        #expect(try await text(client, url("one", origin)) == "one")
        try #require(origin.connections.first).stop()
        #expect(try await text(client, url("two", origin)) == "two")
        #expect(origin.requests.map(\.target) == ["/one", "/two"])
    }

    @Test("A proxy passes bytes of one host on as they come: they are never another host's response")
    func proxy() async throws {
        let proxy = try RawOrigin(Self.respond)
        let client = client(proxy)
        let evil = try #require(URL(string: "http://evil.example/evil"))
        let bank = try #require(URL(string: "http://bank.example/bank"))
        #expect(try await text(client, evil) == "evil")
        #expect(try await text(client, evil) == "evil")
        #expect(proxy.requests.map(\.connection) == [1, 1])
        // Even without any bytes now: those that come after the request can't be told from its response.
        #expect(try await text(client, bank) == "bank")
        #expect(proxy.requests.map(\.connection) == [1, 1, 2])
        let connection = try #require(proxy.connections.last)
        connection.send(Self.forged)
        connection.waitUntilDelivered()
        #expect(try await text(client, bank) == "bank")
        #expect(proxy.requests.map(\.connection) == [1, 1, 2, 3])
    }

    @Test("A cache in front stores what was asked for", arguments: [false, true])
    func cached(byProxy: Bool) async throws {
        let origin = try RawOrigin(Self.respond)
        let folder = try TemporaryFolder()
        let responses = HTTPCache(folder: folder.path)
        let client = CachingClient(cache: responses, client: client(byProxy ? origin : nil))
        let urls = try ["evil", "other"].map { try url($0, origin) }
        #expect(try await client.send(CachingRequest(url: urls[0])).text == "evil")
        let connection = try #require(origin.connections.first)
        connection.send(Self.forged)
        connection.waitUntilDelivered()
        for use in [CacheUse.miss, .hit] {
            let response = try await client.send(CachingRequest(url: urls[1]))
            #expect(response.text == "other")
            #expect(response.use == use)
        }
        await responses.close()
    }
}
