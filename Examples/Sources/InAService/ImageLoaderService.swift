import ServiceLifecycle
import Stages

/// Runs an image loader as a service of ServiceLifecycle. When the program is asked to shut down, loads under way are
/// cancelled, writes to disk are finished, and the cache's files are closed.
public struct ImageLoaderService: Service {
    private let loader: ImageLoader

    /// Shuts `loader` down with the program. List it before the services that use it, since those are shut down first.
    public init(_ loader: ImageLoader) { self.loader = loader }

    /// Waits for the program's shutdown.
    public func run() async throws {
        try? await gracefulShutdown()
        await loader.shutdown()
    }
}
