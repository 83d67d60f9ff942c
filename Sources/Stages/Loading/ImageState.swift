public import Observation
public import Pipeline

/// An image as a view shows it: the state of its load, observable by any user interface.
///
/// ```swift
/// let photo = ImageState(url, loader: loader, cancelsWhenHidden: true)
/// photo.shown()                 // begins the load, unless it was begun or is done
/// photo.state                   // .inProgress(0.4)
/// photo.hidden()                // cancels it
/// ```
///
/// It belongs to whatever actor uses it, such as the main actor: there every change of ``state`` happens. An image in
/// memory is there when ``start(isolation:)`` or ``shown(isolation:)`` returns.
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
    /// A picture of what has arrived so far, or the stale image that is being confirmed; `nil` without one.
    public private(set) var preview: DecodedImage?
    /// Where the image comes from.
    @ObservationIgnored public let source: ImageSource

    @ObservationIgnored private let loader: ImageLoader
    @ObservationIgnored private let options: LoadOptions?
    @ObservationIgnored private let cancelsWhenHidden: Bool
    @ObservationIgnored private var task: ImageTask?

    /// Describes an image to show.
    /// - Parameters:
    ///   - source: where the image comes from.
    ///   - loader: what loads it.
    ///   - options: how its load differs; the loader's defaults if `nil`.
    ///   - beginning: when the load begins; by default when the image is first shown.
    ///   - cancelsWhenHidden: whether a load under way ends when the image is hidden; by default it continues.
    ///   - isolation: the actor that the image belongs to; the caller's own.
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

    /// The image is visible now: its load begins, unless it is under way or has succeeded.
    public func shown(isolation: isolated any Actor = #isolation) {
        if case .success = state { return }
        if task == nil { start() }
    }

    /// The image is not visible any more.
    public func hidden(isolation: isolated any Actor = #isolation) { if cancelsWhenHidden { cancel() } }

    /// Ends a load under way; what was there before it is gone, so the state is empty.
    public func cancel(isolation: isolated any Actor = #isolation) {
        guard let task else { return }
        task.cancel()
        self.task = nil
        preview = nil
        state = .empty
    }

    /// Begins the load, in place of one under way: after a failure it tries again, after a success it reloads.
    public func start(isolation: isolated any Actor = #isolation) {
        task?.cancel()
        var options = options ?? loader.defaults
        // What was loaded before would only be found again.
        if case .success = state { options.policy = .ignoreCache() }
        let task = loader.task(for: source, options: options)
        if let result = task.result { return end(result) }
        self.task = task
        preview = nil
        state = .inProgress(nil)
        Task.immediate(executorPreference: loader.resources.flights.executor) { [weak self] in
            // Named, so that the closure is the actor's.
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
        case .failure(is CancellationError): state = .empty
        case .failure(let error as LoadError) where error.code == .notCached: state = .empty
        case .failure(let error):
            state = .failure(error) { [weak self] in
                _ = isolation
                self?.start()
            }
        }
    }
}
