import Pipeline

/// Makes of what the stages report what a task tells: each event at most once, in their order, the completion last.
struct EventOrder {
    private var hasCache = false
    private var hasSent = false
    private var failure: LoadError?

    /// What there is to tell of an event now, if anything.
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
            // Told at the load's end, which alone has the image.
            failure = error
            return nil
        case .joined, .stored: return nil
        }
    }

    /// The event that tells of the end; `nil` where the image was told of before and nothing was asked.
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
