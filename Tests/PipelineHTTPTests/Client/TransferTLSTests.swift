import Essentials
import HTTPTypes
import Pipeline
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite(
    "Transfers over TLS", .timeLimit(.minutes(5)), .enabled(if: TLSServer.isAvailable, "nginx and openssl are needed"))
struct TransferTLSTests {
    private func options(_ server: TLSServer) -> CurlClient.Options {
        var options = CurlClient.Options.local
        options.caFile = server.authority
        return options
    }

    private func value(_ name: String, _ response: TransferResponse) -> String? {
        HTTPField.Name(name).flatMap { response.headers[$0] }
    }

    @Test("HTTP/2 is spoken over TLS, and many transfers share one connection")
    func http2() async throws {
        let server = try TLSServer("")
        try server.write("a", count: 300_000)
        let client = CurlClient(options(server))
        let url = try server.url("/a")
        var connections: Set<String?> = []
        try await withThrowingTaskGroup(of: TransferResponse.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    let (response, body) = try await client.get(url)
                    #expect(body.count == 300_000)
                    return response
                }
            }
            for try await response in group {
                #expect(response.status == 200)
                #expect(value("X-Protocol", response) == "HTTP/2.0")
                connections.insert(value("X-Connection", response))
            }
        }
        #expect(connections.count == 1)
    }

    @Test("A stream that waits for its reader does not hold up another on the same connection")
    func http2BackPressure() async throws {
        let server = try TLSServer("")
        try server.write("large", count: 40_000_000)
        try server.write("small", count: 100_000)
        let client = CurlClient(options(server))
        let large = try await client.send(TransferRequest(url: server.url("/large")))
        for _ in 0..<20 {
            let (response, body) = try await client.get(server.url("/small"))
            #expect(body.count == 100_000)
            #expect(value("X-Connection", response) == value("X-Connection", large))
        }
        #expect(try await large.bytes().count == 40_000_000)
    }

    @Test("A request that needs back-pressure speaks HTTP/1.1 along with HTTP/2, received no faster than it is read")
    func backPressure() async throws {
        let server = try TLSServer("")
        try server.write("large", count: 60_000_000)
        try server.write("small", count: 1000)
        let client = CurlClient(options(server))
        #expect(value("X-Protocol", try await client.get(server.url("/small")).0) == "HTTP/2.0")
        var request = TransferRequest(url: try server.url("/large"))
        request.needsBackPressure = true
        let large = try await client.send(request)
        #expect(value("X-Protocol", large) == "HTTP/1.1")
        // The same thread serves these; meanwhile the large one is paused.
        for _ in 0..<50 { #expect(try await client.get(server.url("/small")).1.count == 1000) }
        var read = 0
        for try await chunk in large.body {
            #expect(chunk.count <= CurlTransfer.maximumUnread)
            read += chunk.count
        }
        #expect(read == 60_000_000)
    }

    @Test("A stream that is cancelled leaves the connection to the others")
    func http2Cancel() async throws {
        let server = try TLSServer("")
        try server.write("large", count: 40_000_000)
        try server.write("small", count: 100_000)
        let client = CurlClient(options(server))
        let first = try await client.get(server.url("/small")).response
        do { _ = try await client.send(TransferRequest(url: server.url("/large"))) }
        let last = try await client.get(server.url("/small")).response
        #expect(value("X-Connection", first) == value("X-Connection", last))
    }

    @Test("Streams that are cancelled among many leave the others whole")
    func http2CancelAmongMany() async throws {
        let server = try TLSServer("")
        try server.write("a", count: 500_000)
        let client = CurlClient(options(server))
        let url = try server.url("/a")
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<90 {
                let isCancelled = index.isMultiple(of: 3)
                let task = Task {
                    let response = try await client.send(TransferRequest(url: url))
                    var count = 0
                    for try await chunk in response.body {
                        count += chunk.count
                        if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
                    }
                    return count == 500_000
                }
                group.addTask {
                    do { return try await task.value } catch { return isCancelled && error is CancellationError }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test("A certificate of an unknown authority is refused with the remedy, unless any will do")
    func unknownAuthority() async throws {
        let server = try TLSServer("")
        let error = await failure(.unreachable) { try await CurlClient(.local).get(server.url("/")) }
        #expect(error?.message.contains("TLS failed") == true && error?.message.contains("caFile") == true)
        var options = CurlClient.Options.local
        options.trustAnyCertificate = true
        #expect(try await CurlClient(options).get(server.url("/none")).response.status == 404)
    }

    @Test("A certificate for another host is refused")
    func otherHost() async throws {
        let server = try TLSServer("", alternatives: "DNS:elsewhere.example")
        _ = await failure(.unreachable) { try await CurlClient(options(server)).get(server.url("/")) }
    }

    @Test("A client certificate is shown to a server that asks")
    func clientCertificate() async throws {
        let server = try TLSServer("location /own { if ($ssl_client_verify != SUCCESS) { return 403; } return 204; }")
        var options = options(server)
        #expect(try await CurlClient(options).get(server.url("/own")).response.status == 403)
        options.clientCertificate = .init(certificateFile: server.clientCertificate, keyFile: server.clientKey)
        let (response, _) = try await CurlClient(options).get(server.url("/own"))
        #expect(response.status == 204)
    }

    @Test("A certificate file that is not there is a clear error")
    func missingFile() async throws {
        let server = try TLSServer("")
        var options = CurlClient.Options.local
        options.caFile = "/nonexistent/ca.pem"
        let error = await failure(.fileUnreadable) { try await CurlClient(options).get(server.url("/")) }
        #expect(error?.message.contains("caFile") == true)
        options = self.options(server)
        options.clientCertificate = .init(certificateFile: "/nonexistent/client.pem")
        _ = await failure(.fileUnreadable) { try await CurlClient(options).get(server.url("/")) }
    }

    @Test("An address inside is refused over TLS too, on a shared connection as on a new one")
    func refusedAddress() async throws {
        let server = try TLSServer("")
        try server.write("small", count: 10)
        let client = CurlClient(options(server))
        _ = try await client.get(server.url("/small"))
        let strict = TransferRequest(url: try server.url("/small"), addresses: .publicOnly)
        _ = await failure(.refused) { try await client.send(strict) }
        _ = await failure(.refused) { try await CurlClient(options(server)).send(strict) }
    }
}
