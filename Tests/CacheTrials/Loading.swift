import Foundation
import Pipeline
import Stages

/// Loads a URL twice, the second time without the images in memory, with responses that are kept in memory alone.
enum Loading {
    static func run(url: String) async throws {
        guard let url = URL(string: url) else { throw TrialFailure("no URL: \(url)") }
        var options = CurlClient.Options()
        options.addresses = .any
        let resources = PipelineResources(
            memory: MemoryCache(), responses: HTTPCache(inMemory: 1_000_000), client: CurlClient(options))
        let loader = ImageLoader(resources)
        let first = try await loader.load(url)
        resources.memory.reset()
        let second = try await loader.load(url)
        print(first.source, second.source, try await resources.responses.statistics()?.entries ?? -1)
        await loader.shutdown()
    }
}
