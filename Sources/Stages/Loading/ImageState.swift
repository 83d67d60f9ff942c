public import Observation
public import Pipeline

/// The observable state of an image's load, for views of any user interface.
///
/// ```swift
/// let photo = ImageState(url, loader: loader, cancelsWhenHidden: true)
/// photo.shown()                 // begins the load, unless it was begun or is done
/// photo.state                   // .inProgress(0.4)
/// photo.hidden()                // cancels it
/// ```
///
/// It belongs to the actor that uses it, such as the main actor, and changes ``state`` there. An image in memory is
/// available when ``start(isolation:)`` or ``shown(isolation:)`` returns.
@Observable
public final class ImageState {
    /// When the load begins.
    public enum Beginning: Sendable {
        /// With ``ImageState/init(_:loader:options:beginning:cancelsWhenHidden:isolation:)``.
        case atOnce
        /// With the first ``ImageState/shown(isolation:)``.
        case whenShown
    }

    /// How far the load has come.
    public private(set) var state = LoadState.empty
    /// A preview of the bytes so far, or the stale image that is being confirmed; `nil` without one.
    public private(set) var preview: DecodedImage?
    /// Where the image comes from.
    @ObservationIgnored public let source: ImageSource

    @ObservationIgnored private let loader: ImageLoader
    @ObservationIgnored private let options: LoadOptions?
    @ObservationIgnored private let cancelsWhenHidden: Bool
    @ObservationIgnored private var task: ImageTask?

    /// Describes an image to show.
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - loader: The loader of the image.
    ///   - options: The load's options; the loader's defaults if `nil`.
    ///   - beginning: When the load begins; by default when the image is first shown.
    ///   - cancelsWhenHidden: Whether a load under way is cancelled when the image is hidden; `false` by default.
    ///   - isolation: The actor that the image belongs to; by default the caller's.
    public init(
        _ source: ImageSource, loader: ImageLoader, options: LoadOptions? = nil, beginning: Beginning = .whenShown,
        cancelsWhenHidden: Bool = false, isolation: isolated any Actor = #isolation
    ) {
        self.source = source
        self.loader = loader
        self.options = options
        self.cancelsWhenHidden = cancelsWhenHidden
        if beginning == .atOnce { start() }
    }

    deinit { task?.cancel() }

    /// Tells that the image is visible. Starts its load, unless that is under way or has succeeded.
    public func shown(isolation: isolated any Actor = #isolation) {
        if case .success = state { return }
        if task == nil { start() }
    }

    /// Tells that the image isn't visible any more.
    public func hidden(isolation: isolated any Actor = #isolation) { if cancelsWhenHidden { cancel() } }

    /// Cancels a load under way and empties the state, even if there was an image before.
    public func cancel(isolation: isolated any Actor = #isolation) {
        guard let task else { return }
        task.cancel()
        self.task = nil
        preview = nil
        state = .empty
    }

    /// Starts the load, in place of one under way. After a failure it tries again; after a success it reloads the
    /// image.
    public func start(isolation: isolated any Actor = #isolation) {
        task?.cancel()
        var options = options ?? loader.defaults
        // Otherwise a cache would return the same image again.
        if case .success = state { options.policy = .ignoreCache() }
        let task = loader.task(for: source, options: options)
        if let result = task.result { return end(result) }
        self.task = task
        preview = nil
        state = .inProgress(nil)
        Task.immediate(executorPreference: loader.resources.flights.executor) { [weak self] in
            // Captured, so that the closure runs on the actor.
            _ = isolation
            for await event in ImageTaskEvents(task: task, cancels: false) {
                guard let self, self.task === task else { return }
                self.take(event)
            }
            guard let self, self.task === task, let result = task.result else { return }
            self.end(result)
        }
    }

    private func take(_ event: ImageTaskEvent) {
        switch event {
        case .progress(let received, let expected):
            state = .inProgress(expected.flatMap { $0 > 0 ? min(1, Double(received) / Double($0)) : nil })
        case .preview(let image), .hasCache(let image, _): preview = image
        case .sendingRequest, .requestCompleted, .cancelled: break
        }
    }

    private func end(_ result: Result<ImageResponse, any Error>, isolation: isolated any Actor = #isolation) {
        task = nil
        preview = nil
        switch result {
        case .success(let response): state = .success(response)
        case .failure(let error as LoadError) where error.code != .notCached:
            state = .failure(error, retry: LoadState.Retry(self, isolation: isolation))
        // Every failure is a `LoadError`, but for a cancellation.
        case .failure: state = .empty
        }
    }
}
