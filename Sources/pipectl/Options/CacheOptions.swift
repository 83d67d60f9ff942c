import ArgumentParser
import Pipeline
import Stages

/// Where responses are cached: the same words in every verb.
struct CacheOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Cache in this folder. (default: the user's cache folder)", valueName: "folder"))
    var cacheDir: String?

    /// Where responses are cached.
    var folder: String { cacheDir ?? HTTPCache.defaultFolder }

    /// Whether there is a cache already: who only looks makes none.
    var isThere: Bool { FileFacts.isFolder(folder) }

    /// The stored responses. Nothing is opened until it is needed.
    func responses(byteLimit: Int? = nil) -> HTTPCache {
        byteLimit.map { HTTPCache(folder: folder, byteLimit: $0) } ?? HTTPCache(folder: folder)
    }

    /// The caches and the client. Nothing is opened until it is needed.
    func resources(_ addresses: AddressPolicy) -> PipelineResources {
        PipelineResources(
            memory: MemoryCache(), responses: responses(), client: CurlClient(.init(addresses: addresses)))
    }
}
