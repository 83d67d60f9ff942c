public import Essentials
import PipelineImages
public import Pipeline

/// The result of a load of an ``ImageLoader``.
///
/// Two responses are equal if a view would show the same for them: if image, source and staleness are equal. Images are
/// compared by their pixels, which takes no time for copies of one image.
public struct ImageResponse: Sendable {
    /// The pixels.
    public var image: DecodedImage {
        // Not kept apart: copying it a second time is a twentieth of a load from memory.
        guard case .image(let image) = response.product else {
            preconditionFailure("A response without pixels is refused by the initializer.")
        }
        return image
    }
    private let response: LoadResponse

    /// Where the image came from.
    public var source: LoadSource { response.source }
    /// Whether the image is stale, as a policy or the request's `max-stale` may allow.
    public var isStale: Bool { response.isStale }
    /// Whether another picture stands in for the source; see ``Fallback``.
    public var isFallback: Bool { response.isFallback }
    /// When the image stops being fresh; see `LoadResponse.freshUntil`.
    public var freshUntil: Date? { response.freshUntil }
    /// When the origin sent or last confirmed the image; see `LoadResponse.confirmedAt`.
    public var confirmedAt: Date? { response.confirmedAt }
    /// A text that changes whenever the source or the list changes, for an entity tag; see `LoadResponse.validator`.
    public var validator: String? { response.validator }
    /// The media type that the source's bytes were declared as, such as `image/jpeg`; `nil` if none was.
    public var mediaType: String? { response.mediaType }
    /// The key of the source's bytes, as `HTTPCache` and ``MemoryCache`` know it; `nil` if the list settles none.
    public var sourceKey: SourceKey? { response.sourceKey }
    /// What happened, stage by stage.
    public var trace: Trace { response.trace }

    /// Takes the pixels of a response.
    /// - Throws: `LoadError` with `unexpectedProduct` if the list ended with bytes.
    init(_ response: LoadResponse, of source: ImageSource) throws(LoadError) {
        guard case .image = response.product else {
            throw LoadError(
                .unexpectedProduct, subject: source.redacted,
                "The pipeline ended with bytes; remove Encode from its list, or use ImageLoader.load(_:through:).")
        }
        self.response = response
    }
}

extension ImageResponse: Equatable {
    /// Whether image, source and staleness are equal.
    public static func == (lhs: ImageResponse, rhs: ImageResponse) -> Bool {
        lhs.source == rhs.source && lhs.isStale == rhs.isStale && lhs.image == rhs.image
    }
}
