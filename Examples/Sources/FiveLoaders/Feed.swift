import FoundationEssentials
import Logging
import Pipeline
import Stages

// A list that prefetches the next rows and logs its loads.

/// The photographs of a feed.
public final class Feed: Sendable {
    private let urls: [URL]
    private let loader: ImageLoader
    private let prefetcher: Prefetcher

    /// Makes a feed of photographs.
    public init(_ urls: [URL], resources: PipelineResources, logger: Logger) {
        self.urls = urls
        loader = ImageLoader(resources, observers: [LoadLog(logger)])
        prefetcher = Prefetcher(loader, maximumConcurrentLoads: 2)
    }

    /// Prefetches the rows that are near, and stops prefetching those that went by.
    public func comeNear(_ rows: Range<Int>, gone: Range<Int>) {
        prefetcher.stop(Array(urls[gone]))
        prefetcher.start(Array(urls[rows]))
    }

    /// Draws what a row shows until its photograph is loaded, from the ThumbHash that the server sent with its address;
    /// `nil` for a damaged one.
    public func placeholder(_ thumbHash: String) -> DecodedImage? { try? DecodedImage(thumbHash: thumbHash) }

    /// Loads the photograph of a visible row, ahead of all prefetching. It joins a prefetch of the same photograph.
    public func photograph(_ row: Int) async throws -> DecodedImage { try await loader.load(urls[row]).image }

    /// Waits until all near rows are loaded, and returns how many were.
    public func settle() async -> Int {
        var loaded = 0
        for await progress in prefetcher.progress { loaded = progress.loaded }
        return loaded
    }
}
