public import Pipeline

extension ImageFormat {
    /// The formats that are decoded unless others are chosen. SVG and JPEG XL are not among them: their loaders are
    /// not made for hostile files.
    public static let standard: Set<ImageFormat> = [.jpeg, .png, .webp, .gif, .tiff, .avif, .heic, .bmp]

    /// The format that a file's name promises, such as `jpeg` for `JPG`; `nil` for an extension that is not known.
    /// - Parameter fileExtension: without the dot, in upper or lower case.
    public init?(fileExtension: some StringProtocol) {
        switch fileExtension.lowercased() {
        case "jpg", "jpeg", "jpe", "jfif", "mpo": self = .jpeg
        case "png", "apng": self = .png
        case "webp": self = .webp
        case "gif": self = .gif
        case "tif", "tiff": self = .tiff
        case "avif", "avifs": self = .avif
        case "heic", "heif", "hif", "heics", "heifs": self = .heic
        case "bmp", "dib": self = .bmp
        case "svg": self = .svg
        case "jxl": self = .jxl
        default: return nil
        }
    }

    /// Whether ``Encode`` can write it: JPEG, PNG, WebP, GIF, TIFF and AVIF.
    public var isWritable: Bool { [.jpeg, .png, .webp, .gif, .tiff, .avif].contains(self) }

    /// The extension that a file of this format should have, without the dot; `nil` for a format of a third party.
    public var preferredFileExtension: String? {
        switch self {
        case .jpeg: "jpg"
        case .png: "png"
        case .webp: "webp"
        case .gif: "gif"
        case .tiff: "tif"
        case .avif: "avif"
        case .heic: "heic"
        case .bmp: "bmp"
        case .svg: "svg"
        case .jxl: "jxl"
        default: nil
        }
    }
}
