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

    /// - Throws: `LoadError` with `tooManyBytes`, `tooMuchMemory`, `tooMuchTime` or `tooManyPixels` beyond the bounds;
    ///   `undecodable` if the file is compressed and damaged, or compressed and not an SVG.
    init(_ bytes: [UInt8]) throws(LoadError) {
        let content = try Self.content(of: bytes)
        if let encoded = SVGSignature.utf8(ofUTF16: content) {
            (text, original) = (encoded, content)
        } else {
            text = content
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

    /// The text, decompressed if it is compressed.
    private static func content(of bytes: [UInt8]) throws(LoadError) -> [UInt8] {
        guard SVGSignature.isCompressed(bytes) else {
            guard bytes.count <= SVGBounds.bytes else { throw tooLong("\(bytes.count) bytes") }
            return bytes
        }
        let length = Inflation.gzipLength(of: bytes)
        if let length, length > SVGBounds.bytes { throw tooLong("\(length) bytes decompressed") }
        guard let length, let content = Inflation.gzip(bytes, length: length) else {
            throw LoadError(.undecodable, subject: "", "The compressed SVG is damaged or cut off; get a new copy.")
        }
        guard SVGSignature.isText(content) else {
            throw LoadError(.undecodable, subject: "", "The file is compressed with gzip and is not an SVG.")
        }
        return content
    }

    private static func tooLong(_ length: String) -> LoadError {
        LoadError(
            .tooManyBytes, subject: "",
            "The SVG has \(length); \(SVGBounds.bytes) are allowed. Simplify it, or split it.")
    }
}
