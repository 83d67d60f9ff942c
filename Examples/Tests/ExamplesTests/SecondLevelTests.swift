import Foundation
import PipelineTesting
import Stages
import Testing

@testable import SecondLevel

@Suite("A second-level cache")
final class SecondLevelTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    private let clock = ManualClock()
    private let origin: ScriptedOrigin

    init() throws {
        let picture = Picture.png(PixelSize(width: 3, height: 2))
        origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The list of a machine with a disk of its own, over the second level that all machines share.
    private func machine(_ name: String) -> ImagePipeline {
        func cache(_ name: String) -> HTTPCache { HTTPCache(folder: folder.appending(path: name).path, clock: clock) }
        let resources = PipelineResources(
            memory: MemoryCache(), responses: cache(name), client: CurlClient(.init(addresses: .any)))
        return .returnCacheElseLoad(resources).replacing(
            Fetch.self,
            with: SharedCache(cache("shared")) { Fetch(resources.client) })
    }

    @Test("it gives one machine what another has fetched, until that expires")
    func shared() async throws {
        let request = ImageRequest(origin.url("/cat.png"))
        #expect(try await machine("first").load(request).source == .network)
        clock.advance(by: .seconds(30))
        let second = machine("second")
        let found = try await second.load(request)
        #expect((found.source, found.size?.width) == (.disk, 3))
        #expect(origin.log.requests.count == 1)

        clock.advance(by: .seconds(29))
        #expect(try await second.load(request).source == .memory)
        #expect(origin.log.requests.count == 1)
        clock.advance(by: .seconds(1))
        #expect(try await second.load(request).source == .network)
        #expect(origin.log.requests.count == 2)
    }

    @Test("what the second machine stored from it expires on its disk as well")
    func stored() async throws {
        let request = ImageRequest(origin.url("/cat.png"))
        _ = try await machine("first").load(request)
        clock.advance(by: .seconds(50))
        _ = try await machine("second").load(request)
        clock.advance(by: .seconds(9))
        #expect(try await machine("second").load(request).source == .disk)
        clock.advance(by: .seconds(1))
        #expect(try await machine("second").load(request).source == .network)
        #expect(origin.log.requests.count == 2)
    }
}
