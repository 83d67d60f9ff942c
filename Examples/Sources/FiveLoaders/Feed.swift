import FoundationEssentials
import Logging
import Pipeline
import Stages

// A list that prefetches the rows to come, and writes what it does to a log.

/// The photographs of a feed.
public final class Feed: Sendable {
    private let urls: [URL]
    private let loader: ImageLoader
    private let prefetcher: Prefetcher

    /// A feed of photographs.
    public init(_ urls: [URL], resources: PipelineResources, logger: Logger) {
        self.urls = urls
        loader = ImageLoader(resources, observers: [LoadLog(logger)])
        prefetcher = Prefetcher(loader, maximumConcurrentLoads: 2)
    }

    /// The rows that are near: they are loaded before they are wanted, and those that went by are not any more.
    public func comeNear(_ rows: Range<Int>, gone: Range<Int>) {
        prefetcher.stop(Array(urls[gone]))
        prefetcher.start(Array(urls[rows]))
    }

    /// The photograph of a row that is on the screen: before all prefetching, and joining it where it can.
    public func photograph(_ row: Int) async throws -> DecodedImage { try await loader.load(urls[row]).image }

    /// Waits until all that is near is there.
    public func settle() async -> Int {
        var loaded = 0
        for await progress in prefetcher.progress { loaded = progress.loaded }
        return loaded
    }
}
