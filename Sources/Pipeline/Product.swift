/// What a load ends with: pixels, or bytes where the list has an `Encode` or no `Decode`.
public enum Product: Sendable {
    /// Pixels.
    case image(DecodedImage)
    /// Bytes of an image file.
    case bytes(EncodedImage)

    /// The bytes of memory that it holds on to: what a memory cache counts.
    public var cost: Int {
        switch self {
        case .image(let image): image.byteCount
        case .bytes(let encoded): encoded.bytes.count
        }
    }
}
