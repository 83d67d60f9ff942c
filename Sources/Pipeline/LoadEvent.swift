/// What a load reports while it runs.
public enum LoadEvent: Sendable {
    /// A cache has an image for this load; a stale one is delivered now, and a request follows.
    case hasCache(Product, source: LoadSource)
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
