/// The bytes of an image file, as they came from a source or as an `Encode` made them.
public struct EncodedImage: Sendable {
    /// The file's bytes.
    public let bytes: [UInt8]
    /// What the source or the encoder said the bytes are; `nil` if it said nothing. Decoders look at the bytes.
    public let declaredType: String?
    /// The size in pixels, where an encoder made the bytes.
    public let size: PixelSize?
    /// The source image's size in pixels, where an encoder made the bytes.
    public let nativeSize: PixelSize?

    /// Whether a cache returned these bytes as an earlier result of the list, so that they need not be stored again.
    package var isKept = false

    /// Wraps a file's bytes.
    public init(
        bytes: [UInt8], declaredType: String? = nil, size: PixelSize? = nil, nativeSize: PixelSize? = nil
    ) {
        self.bytes = bytes
        self.declaredType = declaredType
        self.size = size
        self.nativeSize = nativeSize
    }
}
