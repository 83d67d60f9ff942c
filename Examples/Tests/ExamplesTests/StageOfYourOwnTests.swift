import Foundation
import Pipeline
import PipelineTesting
import Stages
import Testing

@testable import StageOfYourOwn

@Suite("A stage of one's own")
final class StageOfYourOwnTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "examples-\(UUID().uuidString)")
    private let origin: ScriptedOrigin
    private let pipeline: ImagePipeline
    private var request: ImageRequest { ImageRequest(origin.url("/cat.png")) }

    init() throws {
        // A picture of 1×1 pixels.
        let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M/wHwAEBgIApD5fRAAAAABJRU5ErkJggg=="
        let picture = [UInt8](try #require(Data(base64Encoded: base64)))
        origin = try ScriptedOrigin { _ in .init(body: picture) }
        pipeline = .returnCacheElseLoad(
            PipelineResources(
                memory: MemoryCache(), responses: HTTPCache(folder: folder.path),
                client: CurlClient(.init(addresses: .any))))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test("inserted before Fetch, it refuses a host before it is asked")
    func inserted() async throws {
        let guarded = pipeline.inserting(RefuseHost(host: "127.0.0.1"), before: Fetch.self)
        let error = await #expect(throws: LoadError.self) { try await guarded.load(request) }
        #expect(error?.code == .refused)
        #expect(error?.stage == "RefuseHost")
        #expect(origin.log.requests.isEmpty)
    }

    @Test("replaced, it refuses another host")
    func replaced() async throws {
        let guarded = pipeline.inserting(RefuseHost(host: "127.0.0.1"), before: Fetch.self)
            .replacing(RefuseHost.self, with: RefuseHost(host: "tracker.example"))
        #expect(try await guarded.load(request).size == 1)
    }

    @Test("removed, it leaves the list as it was")
    func removed() async throws {
        let guarded = pipeline.inserting(RefuseHost(host: "127.0.0.1"), before: Fetch.self)
        let open = guarded.removing(RefuseHost.self)
        #expect("\(open)" == "\(pipeline)")
        #expect(try await open.load(request).size == 1)
    }

    @Test("a list without Fetch works offline")
    func offline() async throws {
        let offline = pipeline.removing(Fetch.self)
        let error = await #expect(throws: LoadError.self) { try await offline.load(request) }
        #expect(error?.code == .notCached)
        #expect(origin.log.requests.isEmpty)
        _ = try await pipeline.load(request)
        #expect(try await offline.load(request).source == .memory)
    }
}
