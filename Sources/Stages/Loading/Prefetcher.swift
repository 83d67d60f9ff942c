public import Essentials
public import Pipeline

/// Loads images before they are needed, such as those that a list will scroll to.
///
/// ```swift
/// let prefetcher = Prefetcher(loader)
/// prefetcher.start(urlsThatComeNext)
/// prefetcher.stop(urlsThatWentBy)
/// ```
///
/// Images that are cached or under way are not loaded again. A few loads run concurrently, with a lower priority than
/// visible ones. A visible load that joins one raises its priority, and survives `stop(_:)`: only work without other
/// waiters is cancelled. Clearing the loader's caches ends prefetching, as does releasing the prefetcher.
public final class Prefetcher: Sendable {
    /// Where prefetched images go.
    public enum Destination: Sendable, Hashable {
        /// Memory and disk: decoded, ready to be shown.
        case memory
        /// The disk alone: nothing is decoded.
        case disk
    }

    private let queue: PrefetchQueue
    private let loader: ImageLoader
    private let destination: Destination
    private let options: LoadOptions?

    /// Makes a prefetcher.
    /// - Parameters:
    ///   - loader: The loader of the images.
    ///   - destination: Where the images go; memory by default.
    ///   - maximumConcurrentLoads: How many loads run concurrently; 2 by default.
    ///   - options: The options of loads that are started without their own; the loader's defaults if `nil`. Request
    ///     the size that will be shown: a load of another size shares only the download.
    ///   - priority: How urgent the loads are; low by default.
    public init(
        _ loader: ImageLoader, destination: Destination = .memory, maximumConcurrentLoads: Int = 2,
        options: LoadOptions? = nil, priority: LoadPriority = .low
    ) {
        queue = PrefetchQueue(loader, limit: max(1, maximumConcurrentLoads), priority: priority)
        self.loader = loader
        self.destination = destination
        self.options = options
    }

    deinit { queue.stopAll() }

    /// Loads these images after those requested earlier. Images that wait or are under way, with whatever options, are
    /// left out.
    /// - Parameters:
    ///   - urls: The images.
    ///   - options: The options of these loads, such as size or header fields; those of the prefetcher if `nil`.
    public func start(_ urls: [URL], options: LoadOptions? = nil) {
        start(urls.map { ImageSource($0) }, options: options)
    }

    /// Loads these images after those requested earlier. Images that wait or are under way, with whatever options, are
    /// left out.
    /// - Parameters:
    ///   - sources: The images.
    ///   - options: The options of these loads, such as size or header fields; those of the prefetcher if `nil`.
    public func start(_ sources: [ImageSource], options: LoadOptions? = nil) {
        var options = options ?? self.options ?? loader.defaults
        if destination == .disk { options.policy = .storeOnDisk }
        queue.start(sources, options)
    }

    /// Stops loading these images, unless another load waits for them.
    public func stop(_ urls: [URL]) { stop(urls.map { ImageSource($0) }) }

    /// Stops loading these images, unless another load waits for them.
    public func stop(_ sources: [ImageSource]) { queue.stop(sources) }

    /// Stops loading all images.
    public func stopAll() { queue.stopAll() }

    /// Starts no further load until ``resume()``. Loads under way continue.
    public func pause() { queue.pause(true) }

    /// Continues after ``pause()``.
    public func resume() { queue.pause(false) }

    /// Whether it is paused.
    public var isPaused: Bool { queue.isPaused }

    /// How urgent the loads are; a change reaches those under way.
    public var priority: LoadPriority {
        get { queue.priority.value }
        set { queue.priority.set(newValue) }
    }

    /// The prefetcher's progress, now and with each change, until nothing is left to do.
    public var progress: PrefetchProgress { PrefetchProgress(queue: queue) }
}
