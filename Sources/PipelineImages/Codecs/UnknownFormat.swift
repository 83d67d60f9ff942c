import Pipeline

/// Explains why files that no codec matches are refused.
enum UnknownFormat {
    /// Returns the error for such a file. It names the format if the file has a well-known one.
    /// - Parameter declaredType: The media type that a server declared.
    static func refusal(of bytes: [UInt8], declaredType: String? = nil) -> LoadError {
        guard !bytes.isEmpty else { return LoadError(.undecodable, subject: "", "The file is empty.") }
        if let name = unsupported.first(where: { bytes[...].dropFirst($0.offset).starts(with: $0.bytes) })?.name {
            return LoadError(
                .unsupportedType, subject: "",
                "The file is \(name), which is not supported; save it as a JPEG, PNG or TIFF.")
        }
        let leftOut = own.filter { ImageCodecs.known.codec(for: $0.format) == nil }
        if let left = leftOut.first(where: { bytes[...].dropFirst($0.offset).starts(with: $0.bytes) }) {
            return Self.leftOut(left.name, left.trait)
        }
        let start = bytes.prefix(12).map { (0x20..<0x7f).contains($0) ? String(UnicodeScalar($0)) : "." }.joined()
        let declared = declaredType.map { ", though it is declared as \(plainText($0, limit: 100))" } ?? ""
        return LoadError(.undecodable, subject: "", "The file begins with \"\(start)\" and is not an image\(declared).")
    }

    /// The error for what the package could read.
    static func leftOut(_ name: String, _ trait: String) -> LoadError {
        LoadError(
            .unsupportedType, subject: "",
            "The file is \(name), which this program was built without: the package's trait \(trait) is off.")
    }

    /// The first bytes of the package's own formats, of which a build may lack some.
    private static let own: [(format: ImageFormat, name: String, trait: String, offset: Int, bytes: [UInt8])] = [
        (.png, "a PNG", "PNG", 1, Array("PNG\r\n".utf8)), (.webp, "a WebP", "WebP", 8, Array("WEBP".utf8)),
        (.gif, "a GIF", "GIF", 0, Array("GIF8".utf8)), (.tiff, "a TIFF", "TIFF", 0, [0x49, 0x49, 42, 0]),
        (.tiff, "a TIFF", "TIFF", 0, [0x4d, 0x4d, 0, 42]), (.bmp, "a BMP", "BMP", 0, Array("BM".utf8)),
        (.avif, "an AVIF", "AVIF", 4, Array("ftypavi".utf8)), (.heic, "a HEIC", "HEIC", 4, Array("ftyphe".utf8)),
        (.jxl, "a JPEG XL", "JPEGXL", 0, [0xff, 0x0a]), (.jxl, "a JPEG XL", "JPEGXL", 4, Array("JXL ".utf8)),
        (.svg, "an SVG", "SVG", 0, Array("<svg".utf8)),
    ]

    /// The first bytes of formats that aren't read.
    private static let unsupported = others + heifs

    private static let others: [(name: String, offset: Int, bytes: [UInt8])] = [
        ("a JPEG 2000", 0, [0, 0, 0, 12, 0x6a, 0x50, 0x20, 0x20]), ("a JPEG 2000", 0, [0xff, 0x4f, 0xff, 0x51]),
        ("an icon (ICO)", 0, [0, 0, 1, 0]), ("a cursor (CUR)", 0, [0, 0, 2, 0]),
        ("a Photoshop document (PSD)", 0, Array("8BPS".utf8)), ("a JPEG XR", 0, [0x49, 0x49, 0xbc, 1]),
        ("an OpenEXR", 0, [0x76, 0x2f, 0x31, 1]), ("a Radiance picture (HDR)", 0, Array("#?RADIANCE".utf8)),
        ("a DirectDraw surface (DDS)", 0, Array("DDS ".utf8)), ("a QOI", 0, Array("qoif".utf8)),
        ("a PDF", 0, Array("%PDF-".utf8)), ("a GIMP picture (XCF)", 0, Array("gimp xcf".utf8)),
        ("a video", 4, Array("ftypisom".utf8)), ("a video", 4, Array("ftypmp4".utf8)),
        ("a video", 4, Array("ftypqt".utf8)), ("a HEIF of the brand mif3", 4, Array("ftypmif3".utf8)),
    ]

    /// The brands of HEIF that don't promise AV1 or HEVC. The codecs have looked for these before, as far as they are built.
    private static let heifs = [
        "mif1", "msf1", "miaf", "avci", "avcs", "jpeg", "jpgs", "j2ki", "vvic", "vvis",
    ].map { (name: heif, offset: 4, bytes: Array("ftyp\($0)".utf8)) }

    #if AVIF && HEIC
    private static let heif = "a HEIF whose pictures aren't coded with AV1 or HEVC"
    #else
    private static let heif = "a HEIF"
    #endif
}
