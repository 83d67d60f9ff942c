import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Metrics
import PipelineHummingbird
import PipelineServer
import PipelineTesting
import Stages
import Testing

@Suite("The middleware")
final class ImageMiddlewareTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "middleware-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let picture = Picture.png(PixelSize(width: 40, height: 20), with: [200, 100, 50, 255])
        try Data(picture).write(to: folder.appending(path: "a.png"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func loader() -> ImageLoader {
        var resources = PipelineResources(
            memory: MemoryCache(byteLimit: 1_000_000),
            responses: HTTPCache(folder: folder.appending(path: "cache").path, byteLimit: 1_000_000),
            client: CurlClient(), isolation: .none)
        resources.allowedSources = [.remote, .files]
        return ImageLoader(resources)
    }

    /// Uses the application of the README through a client.
    private func withApplication(
        _ keys: SigningKeys? = nil, _ body: @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        let app = try application(
            folder: folder.path, keys: keys, loader: loader(), metrics: NOOPMetricsHandler.instance)
        try await app.test(.live) { client in try await body(client) }
    }

    @Test("answers the paths of pictures and probes, and hands on all others")
    func paths() async throws {
        try await withApplication { client in
            try await client.execute(uri: "/thumb/10x10/a.png", method: .get) { response in
                #expect(response.status == .ok && response.headers[.contentType]?.hasPrefix("image/") == true)
                #expect(response.headers[.contentLength] == "\(response.body.readableBytes)")
            }
            try await client.execute(uri: "/hello", method: .get) { response in
                #expect(String(buffer: response.body) == "Hello")
            }
            try await client.execute(uri: "/health/ready", method: .get) { #expect($0.status == .ok) }
            try await client.execute(uri: "/nothing", method: .get) { #expect($0.status == .notFound) }
            try await client.execute(uri: "/thumb/10x10/b.png", method: .get) { response in
                #expect(response.status == .notFound)
                #expect(response.headers[.contentType] == "application/problem+json")
            }
        }
    }

    @Test("asks for signatures where there are keys, and sends a client what it doesn't have yet")
    func signatures() async throws {
        let keys = try SigningKeys([.init(secret: Array(repeating: 0xA1, count: 16))])
        try await withApplication(keys) { client in
            let path = ThumbDialect.path("10x10", to: "a.png", signedWith: keys)
            let tag = try await client.execute(uri: path, method: .get) { $0.headers[.eTag] }
            try await client.execute(
                uri: path, method: .get, headers: [.ifNoneMatch: try #require(tag)]
            ) { #expect($0.status == .notModified && $0.body.readableBytes == 0) }
            try await client.execute(uri: path, method: .head) { response in
                #expect(response.status == .ok && response.body.readableBytes == 0)
                #expect(response.headers[.contentLength] != "0")
            }
            try await client.execute(uri: "/thumb/10x10/a.png", method: .get) { #expect($0.status == .forbidden) }
        }
    }
}
