import ArgumentParser
import Pipeline
import Stages

/// Where responses are cached: the same words in every verb.
struct CacheOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Cache in this folder. (default: the user's cache folder)", valueName: "folder"))
    var cacheDir: String?

    /// The caches and the client. Nothing is opened until it is needed.
    func resources(_ addresses: AddressPolicy) -> PipelineResources {
        PipelineResources(
            memory: MemoryCache(),
            responses: HTTPCache(folder: cacheDir ?? HTTPCache.defaultFolder),
            client: CurlClient(.init(addresses: addresses)))
    }
}
