public import Pipeline

/// What an ``ImageTask`` tells while it runs.
///
/// First ``hasCache(_:source:)``, then ``sendingRequest(didHaveCachedImage:)``, then
/// ``requestCompleted(error:image:source:)``, each at most once. A fresh image from a cache gives only the first, a stale
/// one all three, and none the last two. What was neither in a cache nor requested, as a file, gives only the last, and so
/// does a load that fails before a request. A cancelled load ends with ``cancelled`` instead.
public enum ImageTaskEvent: Sendable {
    /// A cache has an image. A stale one, as ``CachePolicy/useProtocol`` gives, is followed by a request.
    case hasCache(DecodedImage, source: LoadSource)
    /// The origin is about to be asked.
    case sendingRequest(didHaveCachedImage: Bool)
    /// Bytes have arrived; `expected` is `nil` where the origin declared no length. A reader that comes later gets
    /// only the newest.
    case progress(received: Int, expected: Int?)
    /// A picture of what has arrived so far. A reader that comes later gets only the newest.
    case preview(DecodedImage)
    /// The load has ended, and with it the request if there was one. `image` is `nil` where there is none, and where the origin confirmed
    /// the one that was given before (`revalidated`). Where a stale image stands in for an origin that failed, both
    /// `error` and `image` are there.
    case requestCompleted(error: LoadError?, image: DecodedImage?, source: LoadSource?)
    /// The load was cancelled: by ``ImageTask/cancel()``, or because the caches were cleared or the loader shut down.
    case cancelled
}
