/// The image that a load ends with: pixels, or bytes where the list has an `Encode` or no `Decode`.
public enum LoadProduct: Sendable {
    /// Pixels.
    case image(DecodedImage)
    /// Bytes of an image file.
    case bytes(EncodedImage)

    /// The memory that it holds, in bytes, as memory caches count it.
    public var cost: Int {
        switch self {
        case .image(let image): image.byteCount
        case .bytes(let encoded): encoded.bytes.count
        }
    }
}
