/// What a load reports while it runs.
public enum LoadEvent: Sendable {
    /// A cache has an image for this load; a stale one is given now and followed by a request.
    case hasCache(Product, source: LoadSource)
    /// The load joined one under way, or with `fetchOnly` one of the same source in another form; what that one has
    /// reported so far follows.
    case joined(fetchOnly: Bool)
    /// The origin is about to be asked.
    case sendingRequest(hadCachedImage: Bool)
    /// Bytes of the body have arrived; `expected` is `nil` where the origin declared no length.
    case progress(received: Int, expected: Int?)
    /// A picture of what has arrived so far.
    case preview(DecodedImage)
    /// The request has ended.
    case requestCompleted(source: LoadSource?, error: LoadError?)
    /// A cache has taken what was found: ``LoadSource/memory`` the product, ``LoadSource/disk`` the response.
    case stored(LoadSource)
}
