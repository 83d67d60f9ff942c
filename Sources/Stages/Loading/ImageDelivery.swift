import Pipeline

/// Brings what is loaded to one place, one load after another, on the place's own actor.
///
/// Not generic over the place, as ``ImageSlot`` is: so it is compiled once, and no closure of it has to be generic.
final class ImageDelivery {
    typealias Completion = (Result<ImageResponse, any Error>) -> Void

    private let loader: ImageLoader
    /// Shows an image, or with `nil` nothing; false if the place is gone.
    private let show: (DecodedImage?) -> Bool
    private(set) var task: ImageTask?

    init(_ loader: ImageLoader, show: @escaping (DecodedImage?) -> Bool) {
        self.loader = loader
        self.show = show
    }

    deinit { task?.cancel() }

    func begin(
        _ source: ImageSource, _ placeholder: DecodedImage?, _ options: LoadOptions?, isolation: isolated any Actor,
        _ completion: Completion?
    ) {
        cancel()
        let task = loader.task(for: source, options: options)
        if let result = task.result {
            // What failed at once must not leave the image of another source.
            if case .failure = result { return fail(result, placeholder, completion) }
            return end(result, completion)
        }
        self.task = task
        if let placeholder { _ = show(placeholder) }
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
        cancel()
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
        if show(placeholder), task == nil { completion?(result) }
    }

    /// Whether a load may still call back; one whose place is gone is ended.
    private func isCurrent(_ task: ImageTask) -> Bool {
        guard self.task === task else { return false }
        let isThere = show(nil)
        if !isThere { cancel() }
        return isThere
    }

    private func take(_ event: ImageTaskEvent) {
        switch event {
        case .hasCache(let image, _), .preview(let image): _ = show(image)
        case .sendingRequest, .progress, .requestCompleted, .cancelled: break
        }
    }

    private func end(_ result: Result<ImageResponse, any Error>, _ completion: Completion?) {
        task = nil
        let image: DecodedImage? = if case .success(let response) = result { response.image } else { nil }
        // What is shown may set another source: then this load is superseded.
        if show(image), task == nil { completion?(result) }
    }
}
