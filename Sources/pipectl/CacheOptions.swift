import ArgumentParser
import Pipeline
import Stages

/// Where responses are cached: the same words in every verb.
struct CacheOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Cache in this folder. (default: the user's cache folder)", valueName: "folder"))
    var cacheDir: String?

    /// The caches and the client. Nothing is opened until it is needed.
    func resources() throws -> PipelineResources {
        PipelineResources(
            memory: MemoryCache(),
            responses: HTTPCache(folder: try cacheDir ?? HTTPCache.defaultFolder),
            client: CurlClient(addresses: .any))
    }
}
