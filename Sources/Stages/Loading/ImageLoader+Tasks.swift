public import Essentials
public import Pipeline
import Synchronization

extension ImageLoader {
    /// Starts loading an image, and returns a handle to follow or cancel the load.
    ///
    /// The load starts before this returns. If the image is in memory, ``ImageTask/result`` has it already.
    /// - Parameters:
    ///   - url: An http, https, `file:` or `data:` URL.
    ///   - options: The load's options; ``defaults`` if `nil`.
    public func task(for url: URL, options: LoadOptions? = nil) -> ImageTask {
        task(for: ImageSource(url), options: options)
    }

    /// Starts loading an image from any kind of source.
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - options: The load's options; ``defaults`` if `nil`.
    public func task(for source: ImageSource, options: LoadOptions? = nil) -> ImageTask {
        let task = ImageTask(source, priority: (options ?? defaults).priority)
        task.start(executor: resources.flights.executor) { [self] in await load(source, options, into: $0) }
        return task
    }

    /// Shuts the loader down: cancels its loads, finishes writing to disk, closes the caches' files cleanly and the
    /// client's connections. Later loads fail. Returns once none of the loader's loads runs any more. A second call
    /// waits for the first.
    ///
    /// Other loaders over the same resources lose these too.
    public func shutdown() async {
        guard !isShutDown.exchange(true, ordering: .relaxed) else { return await shutdownEnd.wait() }
        defer { shutdownEnd.finish() }
        await resources.flights.cancelAll()
        await resources.client.shutdown()
        // Loads that started before they could notice. Without a client they end soon.
        await resources.flights.drain()
        await resources.responses.close()
    }
}

extension LoadError {
    static func shutDown(_ subject: String) -> LoadError {
        LoadError(.refused, subject: subject, "The loader was shut down; make another one to load images.")
    }
}
