import Essentials
import LibC
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures
import Testing

@Suite("Proxies", .timeLimit(.minutes(5)))
struct TransferProxyTests {
    @Test("A proxy that was asked for gets the request, with the whole URL in it")
    func proxy() async throws {
        let proxy = try ScriptedOrigin { _ in .init(body: "by proxy") }
        var options = CurlClient.Options.local
        options.proxy = proxy.url("")
        let url = try #require(URL(string: "http://nowhere.invalid/a"))
        #expect(try await CurlClient(options).get(url).body == Array("by proxy".utf8))
        #expect(proxy.log.requests.map(\.target) == ["http://nowhere.invalid/a"])
    }

    @Test("A proxy on an inside address has to be allowed, by its own name")
    func proxyInside() async throws {
        let proxy = try ScriptedOrigin { _ in .init(body: "by proxy") }
        var options = CurlClient.Options()
        options.proxy = proxy.url("")
        let url = try #require(URL(string: "http://nowhere.invalid/a"))
        _ = await failure(.refused) { try await CurlClient(options).get(url) }
        options.addresses = try .publicOnly(allowing: ["nowhere.invalid"])
        _ = await failure(.refused) { try await CurlClient(options).get(url) }
        options.addresses = try .publicOnly(allowing: ["127.0.0.1"])
        #expect(try await CurlClient(options).get(url).body == Array("by proxy".utf8))
    }

    @Test("The environment's proxies are not asked")
    func environment() async {
        // The environment belongs to a whole process, so this takes one of its own.
        await #expect(processExitsWith: .success) {
            let proxy = try ScriptedOrigin { _ in .init(status: 500) }
            let origin = try ScriptedOrigin { _ in .init(body: "direct") }
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
                setenv(name, proxy.url("").absoluteString, 1)
            }
            var options = CurlClient.Options()
            options.addresses = .any
            let (_, body) = try await CurlClient(options).get(origin.url("/"))
            guard body == Array("direct".utf8), proxy.log.connections == 0 else { exit(1) }
        }
    }
}
