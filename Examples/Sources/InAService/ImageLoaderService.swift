import ServiceLifecycle
import Stages

/// An image loader as a service of a program under ServiceLifecycle: when the program is asked to end, loads under way
/// are cancelled, what is being stored is stored, and the cache's files are closed.
public struct ImageLoaderService: Service {
    private let loader: ImageLoader

    /// Ends `loader` with the program. List it before the services that use it: they are ended first.
    public init(_ loader: ImageLoader) { self.loader = loader }

    /// Waits for the program's end.
    public func run() async throws {
        try? await gracefulShutdown()
        await loader.shutdown()
    }
}
