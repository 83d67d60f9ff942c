public import Pipeline

/// An event of an ``ImageTask``.
///
/// First ``hasCache(_:source:)``, then ``sendingRequest(didHaveCachedImage:)``, then
/// ``requestCompleted(error:image:source:)``, each at most once. A load sends only the first for a fresh image from a
/// cache, all three for a stale one, and the last two without a cached image. It sends only the last if nothing was
/// cached or requested, as for a file, or if it fails before a request. A cancelled load ends with ``cancelled``
/// instead.
///
/// Events are equal if they say the same; images are compared by their pixels.
public enum ImageTaskEvent: Sendable, Equatable {
    /// A cache has an image. A stale one, as with ``CachePolicy/useProtocol``, is followed by a request.
    case hasCache(DecodedImage, source: LoadSource)
    /// The origin is about to be asked.
    case sendingRequest(didHaveCachedImage: Bool)
    /// Bytes have arrived. `expected` is `nil` if the origin declared no length. Late readers get only the newest.
    case progress(received: Int, expected: Int?)
    /// A preview of the bytes so far. Late readers get only the newest.
    case preview(DecodedImage)
    /// The load has ended, and with it the request if there was one. `image` is `nil` if there is none, or if the
    /// origin confirmed the one that was sent before (`revalidated`). Both `error` and `image` are set if a stale image
    /// stands in for an origin that failed.
    case requestCompleted(error: LoadError?, image: DecodedImage?, source: LoadSource?)
    /// The load was cancelled: by ``ImageTask/cancel()``, or because the caches were cleared or the loader shut down.
    case cancelled
}
