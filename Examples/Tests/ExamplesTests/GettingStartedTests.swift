import Foundation
import GettingStarted
import Pipeline
import PipelineTesting
import Stages
import Testing

@Suite("Getting started")
final class GettingStartedTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    private let origin: ScriptedOrigin
    private let resources: PipelineResources
    private let picture: [UInt8]

    init() throws {
        let photograph = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Tests/Images/good/webp-lossy.webp")
        let picture = [UInt8](try Data(contentsOf: photograph))
        self.picture = picture
        origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture) }
        resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(folder: folder.path),
            client: CurlClient(.init(addresses: .any)))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test("a loader with the defaults loads a file and leaves no cache behind")
    func defaults() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "picture.webp")
        try Data(picture).write(to: file)
        let image = try await loadAnImage(file)
        #expect(image.size.width <= 640)
        #expect(image.size.width > 0)
    }

    @Test("a miss is not a failure, and a cached image is found without a request")
    func cached() async throws {
        let loader = ImageLoader(resources)
        let url = origin.url("/picture.webp")
        #expect(try await cachedImage(url, loader) == nil)
        #expect(origin.log.requests.isEmpty)
        _ = try await loader.load(url)
        #expect(try await cachedImage(url, loader) != nil)
        #expect(origin.log.requests.count == 1)
    }

    @Test("a list of one's own gives WebP thumbnails, the second time from memory")
    func thumbnails() async throws {
        let url = origin.url("/picture.webp")
        let first = try #require(try await thumbnail(of: url, resources))
        #expect(first.prefix(4) == Array("RIFF".utf8)[...])
        #expect(try await thumbnail(of: url, resources) == first)
        #expect(origin.log.requests.count == 1)
    }
}
