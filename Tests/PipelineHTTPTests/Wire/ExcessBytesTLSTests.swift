import Essentials
import HTTPTypes
import Pipeline
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite(
    "Bytes behind a response's end, over TLS", .timeLimit(.minutes(5)),
    .enabled(if: TLSServer.isAvailable, "nginx and openssl are needed"))
struct ExcessBytesTLSTests {
    private func client(_ server: TLSServer) -> CurlClient {
        var options = CurlClient.Options.local
        options.caFile = server.authority
        return CurlClient(options)
    }

    @Test("Bytes in the record of a response's end, decrypted already, are never the response to the next request")
    func record() async throws {
        let server = try TLSServer("")
        let line = try TLSLine(certificates: server.folder)
        let client = client(server)
        let url = try #require(URL(string: "https://127.0.0.1:\(line.port)/evil"))
        let first = Task { try await client.send(TransferRequest(url: url)) }
        try await line.wait(for: "GET /evil")
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        // libcurl then knows the length, and reads no more of the next record than that.
        let response = try await first.value
        line.send("evilHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
        #expect(try await response.text() == "evil")
        let second = Task { try await client.get(url.deletingLastPathComponent().appending(path: "other")).body }
        try await line.wait(for: "GET /other")
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother")
        #expect(try await second.value == Array("other".utf8))
    }

    @Test("Over HTTP/1.1 a quiet connection is used again")
    func keptAlive() async throws {
        let server = try TLSServer("")
        try server.write("a", count: 1000)
        let client = client(server)
        var request = TransferRequest(url: try server.url("/a"))
        request.needsBackPressure = true
        var connections: Set<String?> = []
        for _ in 0..<5 {
            let response = try await client.send(request)
            #expect(try await response.bytes().count == 1000)
            connections.insert(HTTPField.Name("X-Connection").flatMap { response.headers[$0] })
        }
        #expect(connections.count == 1)
    }
}
