public import PipelineIsolation
public import ServiceLifecycle
public import Stages

/// Ends a part of a program, such as its image loader, when the program shuts down.
///
/// ```swift
/// let services = ServiceGroup(
///     services: [PipelineService(pool), PipelineService(fleet), PipelineService(loader), server],
///     gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
/// try await services.run()
/// ```
///
/// A group shuts its services down one by one, the last in the list first. So list the decoder pool and the fleet, then
/// the loader that uses them, then the server: it finishes its requests while everything they need still works.
///
/// When ``run()`` returns, the part has ended: its loads, threads, processes and files. A group that is cancelled, as
/// after another service failed, ends all parts at once, and each ends as completely. Loads that still run then fail.
///
/// A part ends for good. Make a new one for another group; running an ended one again does nothing but wait for the next
/// shutdown. A part whose service never runs has to be shut down by the program.
public struct PipelineService: Service {
    private let end: @Sendable () async -> Void

    /// Ends a part by a closure, such as a client or a cache that no loader has.
    /// - Parameter end: Is called at the shutdown, in a task that is never cancelled. It may be called more than once, if
    ///   the service runs more than once.
    public init(ending end: @escaping @Sendable () async -> Void) { self.end = end }

    /// Shuts a loader down with the program, and with it its client and its caches. Loads under way are cancelled, and
    /// writes to disk are finished.
    public init(_ loader: ImageLoader) { self.init { await loader.shutdown() } }

    /// Closes a pool with the program. Its processes end once the images under way are done.
    public init(_ pool: DecoderPool) { self.init { await pool.close() } }

    /// Waits for a graceful shutdown or for cancellation, then ends the part. Returns when it has ended.
    public func run() async {
        try? await gracefulShutdown()
        // A cancelled task doesn't wait for work on threads, so that the part would still be ending after this returns.
        await Task { await end() }.value
    }
}
