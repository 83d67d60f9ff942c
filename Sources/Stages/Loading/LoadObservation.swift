public import Pipeline

/// Something that happened to a load of an ``ImageLoader``, as a ``LoadObserver`` is told.
public struct LoadObservation: Sendable {
    /// What happened.
    public enum Event: Sendable {
        /// The load has begun.
        case started
        /// The load joined one under way: what that one downloads and stores is told of that one alone.
        case alreadyLoading
        /// A cache has an image, perhaps a stale one.
        case cacheHit(LoadSource)
        /// The origin is asked.
        case downloadStarted
        /// A cache has taken what was found: `memory` the image, `disk` the response.
        case stored(LoadSource)
        /// Whoever wanted the load gave it up.
        case cancelled
        /// The load has failed; the error has the trace where it is a `LoadError`.
        case failed(any Error)
        /// The load has its answer.
        case delivered(LoadResponse)
    }

    /// Which load of this loader; its observations share the number.
    public let load: UInt64
    /// What happened.
    public let event: Event
    /// The image's key; `nil` where it takes a thread to find: for a file, and for more than 256 KB of bytes or of a
    /// `data:` URL.
    public let key: SourceKey?
    /// The image, as it may be shown: without credentials and query values.
    public let subject: String
    /// The stage at which it happened, where there is one.
    public let stage: String?
    /// Whether a ``Prefetcher`` wants it.
    public let isPrefetch: Bool
}
