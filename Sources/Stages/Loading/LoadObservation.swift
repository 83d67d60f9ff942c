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
        /// A request to the origin begins, by whatever stage.
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
    /// The box that the load's image has to fit, in pixels; `nil` for the source's size.
    public var maxPixelSize: PixelSize? { observed.maxPixelSize }
    /// The stage that failed; `nil` for any other event. Which cache had the image is in the event itself, and which
    /// stages ran is in the trace of the response or error.
    public let stage: String?
    /// Whether a ``Prefetcher`` started the load.
    public let isPrefetch: Bool
    /// With `delivered`: what became of the image's prefetch. Only the first load of a prefetched image has it, and only
    /// among the last 10,000 images that were prefetched; otherwise `nil`.
    public internal(set) var prefetchUse: PrefetchUse?
    /// With `cancelled`: the bytes of a body that had arrived and that no other load waits for, so that their download
    /// was for nothing. Otherwise 0.
    public internal(set) var wastedBytes = 0
    let observed: ObservedLoad
}
