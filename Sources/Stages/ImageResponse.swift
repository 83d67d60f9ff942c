import PipelineImages
public import Pipeline

/// The result of a load of an ``ImageLoader``.
public struct ImageResponse: Sendable {
    /// The pixels.
    public let image: DecodedImage
    /// Where the image came from.
    public let source: LoadSource
    /// Whether the image is stale, as a policy or the request's `max-stale` may allow.
    public let isStale: Bool
    /// What happened, stage by stage.
    public let trace: Trace

    /// Takes the pixels of a response.
    /// - Throws: `LoadError` with `unexpectedProduct` if the list ended with bytes.
    init(_ response: LoadResponse, of source: ImageSource) throws(LoadError) {
        guard let image = response.image else {
            throw LoadError(
                .unexpectedProduct, subject: source.redacted,
                "The pipeline ended with bytes; remove Encode from its list, or use ImageLoader.load(_:through:).")
        }
        self.image = image
        self.source = response.source
        isStale = response.isStale
        trace = response.trace
    }
}
