import Foundation
import PipelineTesting
import Stages
import Testing

@testable import OwnFetcher

@Suite("A fetcher of one's own")
final class OwnFetcherTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    private let clock = ManualClock()
    private var file: URL { folder.appending(path: "cat.png") }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(10, at: 1)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Replaces the file by a picture of a width, changed that many seconds after 1970.
    private func write(_ width: Int, at seconds: Double) throws {
        try Data(Picture.png(PixelSize(width: width, height: 1))).write(to: file)
        let date = Date(timeIntervalSince1970: seconds)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
    }

    /// The resources of a program that begins: nothing is in memory.
    private func resources() -> PipelineResources {
        let responses = HTTPCache(folder: folder.appending(path: "cache").path, clock: clock)
        return PipelineResources(memory: MemoryCache(), responses: responses, client: CurlClient())
    }

    private func pipeline(_ resources: PipelineResources) -> ImagePipeline {
        .returnCacheElseLoad(resources).replacing(Fetch.self, with: FetchFromFolder(folder: folder))
    }

    private func request(_ size: PixelSize? = nil) throws -> ImageRequest {
        ImageRequest(try #require(URL(string: "folder:///cat.png")), maxPixelSize: size)
    }

    @Test("its image is stored, and found by a later process")
    func stored() async throws {
        let first = resources()
        #expect(try await pipeline(first).load(request()).source == .network)
        #expect(try await first.responses.statistics()?.entries == 1)
        await first.responses.close()
        let later = try await pipeline(resources()).load(request())
        #expect(later.source == .disk)
        #expect(later.size?.width == 10)
    }

    @Test("concurrent loads of several sizes share one fetch")
    func shared() async throws {
        let (asked, began) = (RecordingStage(accepts: .empty), AsyncStream<Void>.makeStream())
        let (joined, resources) = (AsyncStream<Void>.makeStream(), resources())
        let (small, large) = (try request(4), try request(8))
        let shared = pipeline(resources).inserting(
            StubStage("Hold", produces: .empty) { load in
                began.continuation.finish()
                for await _ in joined.stream {}
                return .skipped
            }, before: FetchFromFolder.self
        ).inserting(asked, before: FetchFromFolder.self)
        async let first = shared.load(small)
        for await _ in began.stream {}
        async let second = shared.load(large) { event in
            if case .joined(fetchOnly: true) = event { joined.continuation.finish() }
        }
        #expect(try await (first.size?.width, second.size?.width) == (4, 8))
        #expect(asked.loads.count == 1)
        #expect(try await resources.responses.statistics()?.entries == 1)
    }

    @Test("a file that has not changed is confirmed without being read")
    func revalidated() async throws {
        _ = try await pipeline(resources()).load(request())
        // Other bytes with the same date: whoever read them would get another picture.
        try write(20, at: 1)
        clock.advance(by: .seconds(60))
        let confirmed = try await pipeline(resources()).load(request())
        #expect(confirmed.source == .revalidated)
        #expect(confirmed.size?.width == 10)
        clock.advance(by: .seconds(59))
        #expect(try await pipeline(resources()).load(request()).source == .disk)
    }

    @Test("a file that has changed is read once its image has expired")
    func expired() async throws {
        let resources = resources()
        _ = try await pipeline(resources).load(request())
        try write(20, at: 2)
        clock.advance(by: .seconds(59))
        let fresh = try await pipeline(resources).load(request())
        #expect((fresh.source, fresh.size?.width) == (.memory, 10))
        clock.advance(by: .seconds(1))
        let changed = try await pipeline(resources).load(request())
        #expect((changed.source, changed.size?.width) == (.network, 20))
    }

    @Test("it keeps to the contract of stages")
    func contract() async throws { try await StageSpec(FetchFromFolder(folder: folder)).check() }
}
