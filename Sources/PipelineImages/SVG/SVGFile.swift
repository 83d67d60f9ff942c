#if SVG
import Pipeline

/// An SVG that may be given to librsvg, since it is within the bounds.
struct SVGFile {
    /// The pictures in `data:` URLs.
    private(set) var pictures: [SVGPicture]
    /// The pixels of all pictures, those in pictures included.
    private(set) var pixels: Int
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
        pixels = SVGPicture.pixels(of: pictures)
        var drawings: [(index: Int, file: SVGFile)] = []
        for (index, picture) in pictures.enumerated() where picture.codec?.format == .svg {
            let inner = try SVGFile(picture.bytes)
            scan.add(inner.scan)
            pixels = pixels.saturatingPlus(inner.pixels)
            drawings.append((index, inner))
        }
        try SVGBounds.check(scan)
        for (index, file) in drawings {
            pictures[index].measure(file)
            pixels = pixels.saturatingPlus(pictures[index].pixels)
        }
        try SVGBounds.check(pixels: pixels)
    }

    /// The bytes for librsvg to measure.
    var measurable: [UInt8] { original ?? text }

    /// The bytes for librsvg to draw. Pictures that it can't read are PNG there, or empty if they can't be read at all: it
    /// would look for libraries that a confined process can't open. PNG and JPEG have their type.
    /// - Throws: `LoadError` with `tooManyBytes` if they are too many then; what `cancellation` says.
    func drawable(_ cancellation: WorkCancellation) throws -> [UInt8] {
        var result: [UInt8] = []
        var place = 0
        // An SVG may have one picture many times.
        var replacements: [[UInt8]: [UInt8]] = [:]
        for picture in pictures where !picture.isReadable {
            try cancellation.check()
            let replacement = try replacements[picture.bytes] ?? picture.readable(cancellation) ?? []
            replacements[picture.bytes] = replacement
            result += text[place..<picture.place.lowerBound]
            result += replacement
            place = picture.place.upperBound
            try SVGBounds.check(bytes: result.count, " with its pictures as PNG")
        }
        guard place > 0 else { return measurable }
        result += text[place...]
        return original == nil ? result : SVGSignature.utf16(ofUTF8: result)
    }

    /// The text, decompressed if it is compressed.
    private static func content(of bytes: [UInt8]) throws(LoadError) -> [UInt8] {
        guard SVGSignature.isCompressed(bytes) else {
            try SVGBounds.check(bytes: bytes.count)
            return bytes
        }
        let length = Inflation.gzipLength(of: bytes)
        if let length { try SVGBounds.check(bytes: length, " decompressed") }
        guard let length, let content = Inflation.gzip(bytes, length: length) else {
            throw LoadError(.undecodable, subject: "", "The compressed SVG is damaged or cut off; get a new copy.")
        }
        guard SVGSignature.isText(content) else {
            throw LoadError(.undecodable, subject: "", "The file is compressed with gzip and is not an SVG.")
        }
        return content
    }
}
#endif
