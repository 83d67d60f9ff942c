public import Essentials

/// The result of a load: the image, where it came from, and what happened.
public struct LoadResponse: Sendable {
    /// Pixels, or bytes where the list has an `Encode` or no `Decode`.
    public let product: LoadProduct
    /// Where the product came from.
    public let source: LoadSource
    /// Whether the product is stale and was returned anyway, as a policy or the request's `max-stale` may allow.
    public let isStale: Bool
    /// Whether the product is made of another picture, which stands in for a source that can't be loaded.
    public let isFallback: Bool
    /// When the response stops being fresh for this request, by the server's word or the request's ``Expiry``. A
    /// service can make its own `Cache-Control` from it. It is in the past if the image must not be stored or the
    /// server wants it confirmed each time, and `nil` if nothing limits it or the list has no `Store`.
    public let freshUntil: Date?
    /// What happened, stage by stage.
    public let trace: Trace
    /// How long work on the source's bytes and pixels took, waits not counted.
    package let workTime: Duration
    let key: VariantKey?
    let facts: ResponseFacts?

    /// The key of the source's bytes, where a stage resolved one.
    public var sourceKey: SourceKey? { key?.source }

    /// A text that changes whenever the source or the list changes. A service can use it as its entity tag (RFC 9110
    /// section 8.8.3). It is made from the source's entity tag or `Last-Modified`; `nil` if there is neither or the
    /// list has no `Store`.
    public var validator: String? {
        guard let key, let validator = facts?.validator else { return nil }
        var hash = BLAKE2b()
        hash.update(key.digest.bytes)
        hash.update(validator)
        return String(hash.finalize().description.prefix(32))
    }

    /// When the origin sent the source's response or last confirmed it. A service can make its `Age` from it (RFC 9111
    /// section 5.1). `nil` if no origin was involved or the list has no `Store`.
    public var confirmedAt: Date? { facts?.askedAt }

    /// What the origin says of the source in its `Cache-Control` field, all lines joined by commas (RFC 9111 section 5.2).
    /// A service can pass on what concerns browsers and caches in front of it, such as `immutable`. `nil` without the
    /// field, and if the list has no `Store`.
    public var originCacheControl: String? { facts?.cacheControl }

    /// The source's `Last-Modified` field (RFC 9110 section 8.8.2); `nil` without the field, and if the list has no
    /// `Store`.
    public var lastModified: String? { facts?.lastModified }

    /// The media type of the result's bytes, or of the source's where the list ends with pixels; `nil` if none was
    /// declared.
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
