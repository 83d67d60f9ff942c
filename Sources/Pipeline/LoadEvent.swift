/// What a load reports while it runs.
public enum LoadEvent: Sendable {
    /// A cache has an image for this load; a stale one is given now and followed by a request.
    case hasCache(Product, source: LoadSource)
    /// The origin is about to be asked.
    case sendingRequest(hadCachedImage: Bool)
    /// Bytes of the body have arrived; `expected` is `nil` where the origin declared no length.
    case progress(received: Int, expected: Int?)
    /// A picture of what has arrived so far.
    case preview(DecodedImage)
    /// The request has ended.
    case requestCompleted(source: LoadSource?, error: LoadError?)
}
