import Pipeline

/// Turns the events that stages report into those of a task: in their fixed order, without repetitions, the completion
/// last.
struct EventOrder {
    private var hasCache = false
    private var hasSent = false
    private var failure: LoadError?

    /// The task's event for an event of a stage; `nil` if there is nothing to report now.
    mutating func admit(_ event: LoadEvent) -> ImageTaskEvent? {
        switch event {
        case .hasCache(let product, let source):
            guard !hasCache, !hasSent, case .image(let image) = product else { return nil }
            hasCache = true
            return .hasCache(image, source: source)
        case .sendingRequest:
            guard !hasSent else { return nil }
            hasSent = true
            return .sendingRequest(didHaveCachedImage: hasCache)
        case .progress(let received, let expected): return .progress(received: received, expected: expected)
        case .preview(let image): return .preview(image)
        case .requestCompleted(_, let error):
            // Reported at the load's end, when the image is there.
            failure = error
            return nil
        case .joined, .stored: return nil
        }
    }

    /// The last event; `nil` if the image was reported before and no request was sent.
    func end(_ result: Result<ImageResponse, any Error>) -> ImageTaskEvent? {
        switch result {
        case .success(let response):
            guard hasSent || !hasCache else { return nil }
            let isKnown = hasCache && (response.source == .revalidated || response.isStale)
            return .requestCompleted(error: failure, image: isKnown ? nil : response.image, source: response.source)
        case .failure(let error as LoadError): return .requestCompleted(error: error, image: nil, source: nil)
        // The pipeline makes a `LoadError` of every other error.
        case .failure: return .cancelled
        }
    }
}
