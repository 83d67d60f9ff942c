public import FoundationEssentials
public import Pipeline

/// Loads images before they are wanted, such as those that a list will scroll to.
///
/// ```swift
/// let prefetcher = Prefetcher(loader)
/// prefetcher.start(urlsThatComeNext)
/// prefetcher.stop(urlsThatWentBy)
/// ```
///
/// Images that are cached or under way are not loaded again. A few run at once, with a lower priority than what a user looks at; a
/// visible load that joins one raises it, and survives `stop(_:)`: only work that nobody else waits for
/// ends. Clearing the loader's caches ends prefetching, as does letting the prefetcher go.
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

    /// Prepares to prefetch.
    /// - Parameters:
    ///   - loader: what loads.
    ///   - destination: where the images go; memory by default.
    ///   - maximumConcurrentLoads: how many are loaded at once; 2 by default.
    ///   - options: how loads differ that are started without options; the loader's defaults if `nil`. Ask for the size that will be shown: another
    ///     one shares the download alone.
    ///   - priority: how urgent the loads are; low by default.
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

    /// Loads these images after those that were asked for before, except what is asked for already, with whatever options.
    /// - Parameters:
    ///   - urls: the images.
    ///   - options: how these loads differ, such as in size or header fields; those of the prefetcher if `nil`.
    public func start(_ urls: [URL], options: LoadOptions? = nil) {
        start(urls.map { ImageSource($0) }, options: options)
    }

    /// Loads these images after those that were asked for before, except what is asked for already, with whatever options.
    /// - Parameters:
    ///   - sources: the images.
    ///   - options: how these loads differ, such as in size or header fields; those of the prefetcher if `nil`.
    public func start(_ sources: [ImageSource], options: LoadOptions? = nil) {
        var options = options ?? self.options ?? loader.defaults
        if destination == .disk { options.policy = .storeOnDisk }
        queue.start(sources, options)
    }

    /// Loads these images no more, unless somebody else waits for them.
    public func stop(_ urls: [URL]) { stop(urls.map { ImageSource($0) }) }

    /// Loads these images no more, unless somebody else waits for them.
    public func stop(_ sources: [ImageSource]) { queue.stop(sources) }

    /// Loads nothing of what was asked for.
    public func stopAll() { queue.stopAll() }

    /// Begins no further load until ``resume()``; those under way go on.
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

    /// How far it has come, now and with each change, until nothing is left to do.
    public var progress: PrefetchProgress { PrefetchProgress(queue: queue) }
}
