/// How the bytes of a pixel lie in memory; 8 bits a channel, straight (not premultiplied) alpha.
public enum PixelLayout: UInt8, Sendable, Hashable {
    /// One byte: luminance.
    case grey = 1
    /// Three bytes: red, green, blue.
    case rgb = 3
    /// Four bytes: red, green, blue, alpha.
    case rgba = 4

    /// Bytes a pixel.
    public var channels: Int { Int(rawValue) }

    /// Whether a pixel has an alpha byte.
    public var hasAlpha: Bool { self == .rgba }
}
