public import Pipeline

/// An event of a load of an ``ImageLoader``, as a ``LoadObserver`` receives it.
public struct LoadObservation: Sendable {
    /// What happened.
    public enum Event: Sendable {
        /// The load has begun.
        case started
        /// The load joined another one under way. Whatever they share is reported for the other one only.
        case alreadyLoading
        /// A cache has an image, perhaps a stale one.
        case cacheHit(LoadSource)
        /// A request to the origin begins.
        case downloadStarted
        /// A cache has stored the image (`memory`) or the response (`disk`).
        case stored(LoadSource)
        /// The load was cancelled.
        case cancelled
        /// The load has failed; the error has the trace where it is a `LoadError`.
        case failed(any Error)
        /// The load has ended with a response.
        case delivered(LoadResponse)
    }

    /// The load's number, which all its observations share.
    public let load: UInt64
    /// What happened.
    public let event: Event
    /// The image's key; `nil` if finding it needs a thread, as for a file, and for more than 256 KB of bytes or of a
    /// `data:` URL.
    public var key: SourceKey? { observed.key }
    /// The image, as it may be shown: without credentials and query values.
    public var subject: String { observed.subject }
    /// The stage at which it happened, if there is one.
    public let stage: String?
    /// Whether a ``Prefetcher`` started the load.
    public let isPrefetch: Bool
    let observed: ObservedLoad
}
