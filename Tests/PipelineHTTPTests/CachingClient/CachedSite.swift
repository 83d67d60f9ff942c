import Essentials
import HTTPTypes
import Pipeline
import PipelineHTTP
import PipelineTesting
import TestFixtures

/// An origin, and a client with a cache before it that lives by a clock of the test's.
final class CachedSite: Sendable {
    let origin: ScriptedOrigin
    let clock = ManualClock()
    let client: CachingClient
    private let folder: TemporaryFolder

    init(isShared: Bool = false, _ handler: @escaping ScriptedOrigin.Handler = { _ in .init(status: 404) }) throws {
        origin = try ScriptedOrigin(handler)
        folder = try TemporaryFolder()
        client = CachingClient(
            cache: .test(folder.path + "/cache", isShared: isShared, clock: clock),
            client: CurlClient(.local))
    }

    /// Sends a request for `/a`.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method = .get, _ path: String = "/a", _ headers: HTTPFields = [:],
        body: [UInt8]? = nil, mode: CacheMode = .standard, redirect: CachingRequest.Redirect = .follow
    ) async throws -> CachingResponse {
        try await client.send(
            CachingRequest(
                method: method, url: origin.url(path), headers: headers, body: body, mode: mode, redirect: redirect))
    }

    var requests: [ScriptedOrigin.Request] { origin.log.requests }
}

extension CachingResponse {
    var text: String { String(decoding: body, as: UTF8.self) }
}
