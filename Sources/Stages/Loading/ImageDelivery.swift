import Pipeline

/// Brings what is loaded to one place, one load after another, on the place's own actor.
///
/// Not generic over the place, as ``ImageSlot`` is: so it is compiled once, and no closure of it has to be generic.
final class ImageDelivery {
    typealias Completion = (Result<ImageResponse, any Error>) -> Void

    /// What the place is to show from now on.
    enum Change {
        case image(DecodedImage)
        case nothing
        /// What it shows already.
        case same
    }

    private let loader: ImageLoader
    private let cancelsPrevious: Bool
    /// Changes what the place shows; false if the place is gone.
    private let show: (Change) -> Bool
    private(set) var task: ImageTask?
    /// Whether the place shows something of the source that was set last.
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
            // Named, so that the closure is the actor's.
            _ = isolation
            for await event in ImageTaskEvents(task: task, cancels: false) {
                guard let self, self.isCurrent(task) else { return }
                self.take(event)
            }
            guard let self, self.isCurrent(task), let result = task.result else { return }
            self.end(result, completion)
        }
    }

    /// Ends the load under way, and tells of a source that can't be loaded at all.
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
        // What is shown may set another source: then this load is superseded.
        if show(placeholder.map(Change.image) ?? .nothing), task == nil { completion?(result) }
    }

    /// Turns to another source.
    private func leave() {
        if cancelsPrevious { task?.cancel() }
        task = nil
        isShowing = false
    }

    private func show(_ image: DecodedImage) {
        isShowing = true
        _ = show(.image(image))
    }

    /// Whether a load may still call back; one whose place is gone is ended.
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
        // What is shown may set another source: then this load is superseded.
        if show(change), task == nil { completion?(result) }
    }
}
