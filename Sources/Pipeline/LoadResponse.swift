public import FoundationEssentials

/// What a load ends with.
public struct LoadResponse: Sendable {
    /// Pixels, or bytes where the list has an `Encode` or no `Decode`.
    public let product: Product
    /// Where the product came from.
    public let source: LoadSource
    /// Whether the answer is past its freshness and was given all the same, as a policy or the request's
    /// `max-stale` may allow.
    public let isStale: Bool
    /// When the response stops being fresh for this request, by the server's word or the request's ``Expiry``: what a service
    /// makes its own `Cache-Control` of. A time that is past for an image that may not be kept, or that the server wants to
    /// be confirmed each time; `nil` where nothing limits it, and where the list has no `Store`.
    public let freshUntil: Date?
    /// What happened, stage by stage.
    public let trace: Trace
    let key: VariantKey?
    let facts: ResponseFacts?

    /// The key of the source's bytes, where a stage resolved one.
    public var sourceKey: SourceKey? { key?.source }

    /// A text that changes whenever the source does, or what the list makes of it: what a service makes its entity tag of (RFC
    /// 9110 section 8.8.3). It comes of the source's entity tag, or of its `Last-Modified`; `nil` where there is neither, and
    /// where the list has no `Store`.
    public var validator: String? {
        guard let key, let validator = facts?.validator else { return nil }
        var hash = BLAKE2b()
        hash.update(key.digest.bytes)
        hash.update(validator)
        return String(hash.finalize().description.prefix(32))
    }

    /// The media type of the result's bytes, or of the source's where the list ends with pixels; `nil` where nobody declared
    /// one.
    public var mediaType: String? { encoded?.declaredType ?? facts?.mediaType }

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
