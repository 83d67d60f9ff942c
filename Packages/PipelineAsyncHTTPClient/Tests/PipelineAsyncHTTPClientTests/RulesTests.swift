import AsyncHTTPClient
import FoundationEssentials
import HTTPTypes
import NIOCore
import PipelineHTTP
import PipelineTesting
import Testing

@Suite("What may be asked through AsyncHTTPClient, and how", .timeLimit(.minutes(5)))
struct RulesTests {
    let origin: ScriptedOrigin

    init() throws { origin = try ScriptedOrigin { _ in .init(body: "x") } }

    @Test("A URL that the rule refuses isn't asked, and caches get the same rule")
    func rule() async throws {
        let local = LocalClient(allows: { $0.path() == "/open" })
        #expect(try await local.get(origin.url("/open")).body == Array("x".utf8))
        _ = await failure(.refused) { try await local.get(origin.url("/secret")) }
        #expect(origin.log.requests.map(\.path) == ["/open"])
        #expect(local.client.urlRule?(origin.url("/open")) == true)
        #expect(local.client.urlRule?(origin.url("/secret")) == false)
    }

    @Test(
        "Only http and https are fetched, though AsyncHTTPClient knows Unix sockets",
        arguments: ["file:///etc/passwd", "unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock/a"])
    func schemes(text: String) async throws {
        let url = try #require(URL(string: text))
        _ = await failure(.unsupportedScheme) { try await LocalClient().get(url) }
    }

    @Test("A URL without a host isn't fetched", arguments: ["http:///a", "http:", "http://:80/"])
    func hosts(text: String) async throws {
        guard let url = URL(string: text) else { return }
        _ = await failure(.invalidURL) { try await LocalClient().get(url) }
    }

    @Test("A request that allows only some addresses is refused, since they can't be checked")
    func addresses() async throws {
        let local = LocalClient()
        let url = origin.url("/")
        _ = await failure(.refused) { try await local.client.send(TransferRequest(url: url, addresses: .publicOnly)) }
        #expect(origin.log.connections == 0)
        _ = try await local.client.send(TransferRequest(url: url, addresses: .any)).bytes()
    }

    @Test(
        "A field value that can't be sent as it is is refused", arguments: [[0x61, 0x1b], [0x7f], [0xe9]] as [[UInt8]])
    func fields(value: [UInt8]) async throws {
        let name = try #require(HTTPField.Name("X-Name"))
        let local = LocalClient()
        var headers = HTTPFields()
        headers.append(HTTPField(name: name, lenientValue: value))
        let error = await failure(.invalidHeader) { try await local.get(origin.url("/"), headers: headers) }
        #expect(error?.message.contains("X-Name") == true)
        #expect(origin.log.connections == 0)
    }

    @Test("The response of an HTTPClient that follows redirects is refused")
    func followsRedirects() async throws {
        origin.route("/") { _ in .redirect(to: "/b") }
        var configuration = HTTPClient.Configuration.patient
        configuration.redirectConfiguration = .follow(max: 5, allowCycles: false)
        let local = LocalClient(configuration)
        let error = await failure(.refused) { try await local.get(origin.url("/")) }
        #expect(error?.message.contains("HTTPClient.Configuration.transfers") == true)
        #expect(try await local.get(origin.url("/b")).body == Array("x".utf8))
    }

    @Test("A body that an HTTPClient has decompressed is refused, since its fields still describe the compressed one")
    func decompresses() async throws {
        origin.route("/") { _ in .init(headers: [.contentEncoding: "gzip"], body: gzipOfHello) }
        var configuration = HTTPClient.Configuration.patient
        configuration.decompression = .enabled(limit: .none)
        let local = LocalClient(configuration)
        let error = await failure(.refused) { try await local.get(origin.url("/")) }
        #expect(error?.message.contains("HTTPClient.Configuration.transfers") == true)
    }
}
