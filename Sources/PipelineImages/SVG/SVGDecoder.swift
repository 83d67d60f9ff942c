import CImages
import Pipeline

/// Draws SVG with librsvg, which is loaded on first use.
///
/// An SVG has no pixels: it is drawn at the size that is asked for, larger than its own too.
struct SVGDecoder: ImageDecoding {
    /// Opens librsvg, the fonts, and what librsvg opens with its first drawing.
    func prepare() {
        _ = SVGFonts.failure
        _ = try? SVGDrawing(Array(#"<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>"#.utf8)).pixels(1)
    }

    /// Parses the file.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try cancellation.check()
        let file = try SVGFile(bytes)
        let drawing = try SVGDrawing(file.drawable)
        var header = ImageHeader(format: .svg, storedSize: drawing.size, hasAlpha: true)
        header.isVector = true
        let pixels = SVGPicture.pixels(of: file.pictures)
        let side = Int(Double(pixels).squareRoot().rounded(.up))
        header.codedSize = .larger(drawing.size, PixelSize(square: side)) ?? drawing.size
        // What libxml2 and librsvg hold for an element, and pictures as they are read and as they are drawn.
        header.memory = file.scan.elements.saturatingTimes(1300).saturatingPlus(pixels.saturatingTimes(8))
        let missing = SVGFonts.missing(file.scan.characters)
        header.missingCharacters = missing.count
        header.missingCharacter = Int(missing.first?.value ?? 0)
        return header
    }

    /// Draws the picture at the size that fits the box.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try cancellation.check()
        let size = header.storedSize(for: box)
        let pixels = try SVGDrawing(SVGFile(bytes).drawable).pixels(size)
        return try header.image(pixels, size: size, layout: .rgba, profile: nil, cancellation)
    }
}
