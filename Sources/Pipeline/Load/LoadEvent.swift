/// What a load reports while it runs.
///
/// The engine reports the request of any stage that fetches: ``sendingRequest(hadCachedImage:)``,
/// ``progress(received:expected:)`` and ``requestCompleted(source:error:)``, the first and the last once. A stage whose
/// `Stage.leaves` names `fetched` and `confirmed` alone sends its request when it first waits. Any other stage has sent
/// one if it brings content from ``LoadSource/network`` or ``LoadSource/revalidated``, or fails with
/// ``LoadError/Code/httpStatus``, ``LoadError/Code/unreachable`` or ``LoadError/Code/timedOut``. A stage that reports
/// more precisely is not repeated.
public enum LoadEvent: Sendable {
    /// A cache has an image for this load; a stale one is delivered now, and a request follows.
    case hasCache(LoadProduct, source: LoadSource)
    /// The load joined one in flight, or with `fetchOnly` one of the same source in another form. The events that it
    /// has reported so far follow.
    case joined(fetchOnly: Bool)
    /// A request is about to be sent to the origin.
    case sendingRequest(hadCachedImage: Bool)
    /// Bytes of the body have arrived; `expected` is `nil` where the origin declared no length.
    case progress(received: Int, expected: Int?)
    /// An image of the bytes that have arrived so far.
    case preview(DecodedImage)
    /// The request has ended.
    case requestCompleted(source: LoadSource?, error: LoadError?)
    /// A cache has stored the product (``LoadSource/memory``) or the response (``LoadSource/disk``).
    case stored(LoadSource)
}
