import Foundation
import PipelineTesting
import Stages
import Testing

@testable import OwnStore

@Suite("A store of your own")
struct OwnStoreTests {
    @Test("The store keeps to the contract of stores")
    func contract() async throws {
        try await StoreSpec([.eviction]) { DictionaryStore(byteLimit: $0) }.check()
    }

    @Test("A loader finds there what another has stored")
    func loads() async throws {
        let picture = Picture.png(PixelSize(width: 3, height: 2))
        let origin = try ScriptedOrigin { _ in .init(headers: [.cacheControl: "max-age=60"], body: picture) }
        let responses = HTTPCache(store: DictionaryStore(byteLimit: 100_000_000))
        func pipeline() -> ImagePipeline {
            .returnCacheElseLoad(
                PipelineResources(
                    memory: MemoryCache(), responses: responses, client: CurlClient(.init(addresses: .any))))
        }
        let request = ImageRequest(origin.url("/cat.png"))
        #expect(try await pipeline().load(request).source == .network)
        #expect(try await pipeline().load(request).source == .disk)
        await responses.remove(url: origin.url("/cat.png"))
        #expect(try await pipeline().load(request).source == .network)
    }
}
