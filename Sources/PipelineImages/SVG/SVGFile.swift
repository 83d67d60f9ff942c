import Pipeline

/// An SVG that may be given to librsvg, since it is within the bounds.
struct SVGFile {
    /// The pictures in `data:` URLs.
    private(set) var pictures: [SVGPicture] = []
    /// What there is to draw.
    private(set) var scan: SVGScan

    /// The text in UTF-8, or in another encoding that has ASCII's markup.
    private let text: [UInt8]
    /// The text as it was, if it was UTF-16.
    private var original: [UInt8]?

    /// - Throws: `LoadError` with `tooManyBytes`, `tooMuchMemory`, `tooMuchTime` or `tooManyPixels` beyond the bounds.
    init(_ bytes: [UInt8]) throws(LoadError) {
        guard bytes.count <= SVGBounds.bytes else { throw Self.tooLong("\(bytes.count)") }
        if let encoded = SVGSignature.utf8(ofUTF16: bytes) {
            (text, original) = (encoded, bytes)
        } else {
            text = bytes
        }
        scan = SVGScan(text)
        pictures = scan.dataURLs.compactMap(SVGPicture.init)
        for picture in pictures where picture.codec.format == .svg {
            let inner = try SVGFile(picture.bytes)
            scan.add(inner.scan)
            pictures += inner.pictures
        }
        try SVGBounds.check(scan)
        try SVGBounds.check(pictures)
    }

    /// The bytes for librsvg.
    var drawable: [UInt8] { original ?? text }

    private static func tooLong(_ count: String) -> LoadError {
        LoadError(
            .tooManyBytes, subject: "",
            "The SVG has \(count) bytes; \(SVGBounds.bytes) are allowed. Simplify it, or split it.")
    }
}
