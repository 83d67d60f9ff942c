import Pipeline

/// Delivers images to one target, one load after another, on the target's actor.
///
/// Not generic over the target, unlike ``ImageSlot``, so that it is compiled once and none of its closures is generic.
final class ImageDelivery {
    typealias Completion = (Result<ImageResponse, any Error>) -> Void

    /// A change of what the target shows.
    enum Change {
        case image(DecodedImage)
        case nothing
        /// The target keeps what it shows.
        case same
    }

    private let loader: ImageLoader
    private let cancelsPrevious: Bool
    /// Changes what the target shows; false if the target is gone.
    private let show: (Change) -> Bool
    private(set) var task: ImageTask?
    /// Whether the target shows an image of the source that was set last.
    private var isShowing = false

    init(_ loader: ImageLoader, cancelsPrevious: Bool, show: @escaping (Change) -> Bool) {
        self.loader = loader
        self.cancelsPrevious = cancelsPrevious
        self.show = show
    }

    deinit { if cancelsPrevious { task?.cancel() } }

    func begin(
        _ source: ImageSource, _ placeholder: DecodedImage?, _ options: LoadOptions?, isolation: isolated any Actor,
        _ completion: Completion?
    ) {
        leave()
        let task = loader.task(for: source, options: options)
        if let result = task.result {
            if case .failure = result { return fail(result, placeholder, completion) }
            return end(result, completion)
        }
        self.task = task
        if let placeholder { show(placeholder) }
        Task.immediate(executorPreference: loader.resources.flights.executor) { [weak self] in
            // Captured, so that the closure runs on the actor.
            _ = isolation
            for await event in ImageTaskEvents(task: task, cancels: false) {
                guard let self, self.isCurrent(task) else { return }
                self.take(event)
            }
            guard let self, self.isCurrent(task), let result = task.result else { return }
            self.end(result, completion)
        }
    }

    /// Supersedes the load under way, and reports a source that can't be loaded at all.
    func refuse(_ error: LoadError, _ placeholder: DecodedImage?, _ completion: Completion?) {
        leave()
        fail(.failure(error), placeholder, completion)
    }

    func cancel() {
        task?.cancel()
        task = nil
    }

    private func fail(
        _ result: Result<ImageResponse, any Error>, _ placeholder: DecodedImage?, _ completion: Completion?
    ) {
        // `show` may set another source, which supersedes this load.
        if show(placeholder.map(Change.image) ?? .nothing), task == nil { completion?(result) }
    }

    /// Supersedes the load under way.
    private func leave() {
        if cancelsPrevious { task?.cancel() }
        task = nil
        isShowing = false
    }

    private func show(_ image: DecodedImage) {
        isShowing = true
        _ = show(.image(image))
    }

    /// Whether a load may still call back. If the target is gone, the load is superseded.
    private func isCurrent(_ task: ImageTask) -> Bool {
        guard self.task === task else { return false }
        let isThere = show(.same)
        if !isThere { leave() }
        return isThere
    }

    private func take(_ event: ImageTaskEvent) {
        switch event {
        case .hasCache(let image, _), .preview(let image): show(image)
        case .sendingRequest, .progress, .requestCompleted, .cancelled: break
        }
    }

    private func end(_ result: Result<ImageResponse, any Error>, _ completion: Completion?) {
        task = nil
        let change: Change =
            switch result {
            case .success(let response): .image(response.image)
            // The image of another source must not stay.
            case .failure: isShowing ? .same : .nothing
            }
        // `show` may set another source, which supersedes this load.
        if show(change), task == nil { completion?(result) }
    }
}
