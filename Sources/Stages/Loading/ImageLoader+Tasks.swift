public import FoundationEssentials
public import Pipeline
import Synchronization

extension ImageLoader {
    /// Begins to load an image, and returns a handle that tells of the load and can cancel it.
    ///
    /// The load begins before this returns: an image that is in memory is in ``ImageTask/result`` then.
    /// - Parameters:
    ///   - url: an http, https, `file:` or `data:` URL.
    ///   - options: how this load differs; ``defaults`` if `nil`.
    public func task(for url: URL, options: LoadOptions? = nil) -> ImageTask {
        task(for: ImageSource(url), options: options)
    }

    /// Begins to load an image from any kind of source.
    /// - Parameters:
    ///   - source: where the image comes from.
    ///   - options: how this load differs; ``defaults`` if `nil`.
    public func task(for source: ImageSource, options: LoadOptions? = nil) -> ImageTask {
        let task = ImageTask(source, priority: (options ?? defaults).priority)
        task.start(executor: resources.flights.executor) { [self] events in
            try await load(source, options: options, events: events)
        }
        return task
    }

    /// Ends the loader: loads under way are cancelled, what is being stored is stored, the caches' files are closed and
    /// left clean, and the client lets its connections go. Afterwards every load fails. Returns when none of the loader's
    /// loads runs any more; a second call waits for the first.
    ///
    /// Other loaders over the same resources lose them too.
    public func shutdown() async {
        guard !isShutDown.exchange(true, ordering: .relaxed) else { return await shutdownEnd.wait() }
        defer { shutdownEnd.finish() }
        await resources.flights.cancelAll()
        await resources.client.shutdown()
        // What set out before it could know; without a client it is soon over.
        await resources.flights.drain()
        await resources.responses.close()
    }
}

extension LoadError {
    static func shutDown(_ subject: String) -> LoadError {
        LoadError(.refused, subject: subject, "The loader was shut down; make another one to load images.")
    }
}
