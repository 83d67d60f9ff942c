/// A format of image files, named by its media type.
///
/// The set is open: a third party that adds a decoder names its format with a constant of its own.
public struct ImageFormat: RawRepresentable, Sendable, Hashable {
    /// The media type, such as `image/jpeg`.
    public let rawValue: String

    /// Names a format by its media type, in lower case.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// JPEG (ISO/IEC 10918).
    public static let jpeg = ImageFormat(rawValue: "image/jpeg")
    /// PNG (ISO/IEC 15948), APNG included.
    public static let png = ImageFormat(rawValue: "image/png")
    /// WebP (RFC 9649).
    public static let webp = ImageFormat(rawValue: "image/webp")
    /// GIF 87a and 89a.
    public static let gif = ImageFormat(rawValue: "image/gif")
    /// TIFF 6.0.
    public static let tiff = ImageFormat(rawValue: "image/tiff")
    /// AVIF: AV1 in HEIF.
    public static let avif = ImageFormat(rawValue: "image/avif")
    /// HEIC: HEVC in HEIF.
    public static let heic = ImageFormat(rawValue: "image/heic")
    /// Windows bitmap.
    public static let bmp = ImageFormat(rawValue: "image/bmp")
    /// SVG, not decoded unless chosen.
    public static let svg = ImageFormat(rawValue: "image/svg+xml")
    /// JPEG XL, not decoded unless chosen.
    public static let jxl = ImageFormat(rawValue: "image/jxl")
}

extension ImageFormat: CustomStringConvertible {
    /// The media type.
    public var description: String { rawValue }
}
