/// What a load ends with.
public struct LoadResponse: Sendable {
    /// Pixels, or bytes where the list has an `Encode` or no `Decode`.
    public let product: Product
    /// Where the product came from.
    public let source: LoadSource
    /// Whether the answer is past its freshness and was given all the same, as a policy or the request's
    /// `max-stale` may allow.
    public let isStale: Bool
    /// The key of the source's bytes, where a stage resolved one.
    public let sourceKey: SourceKey?
    /// What happened, stage by stage.
    public let trace: Trace

    /// The pixels; `nil` where the list ends with bytes.
    public var image: DecodedImage? {
        if case .image(let image) = product { image } else { nil }
    }

    /// The bytes; `nil` where the list ends with pixels.
    public var encoded: EncodedImage? {
        if case .bytes(let bytes) = product { bytes } else { nil }
    }

    /// The result's size in pixels, where it is known.
    public var size: PixelSize? { image?.size ?? encoded?.size }

    /// The source's size in pixels after orientation, where it is known.
    public var nativeSize: PixelSize? { image?.nativeSize ?? encoded?.nativeSize }
}
