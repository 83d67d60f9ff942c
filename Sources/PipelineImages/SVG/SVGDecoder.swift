#if SVG
import CSVG
import Pipeline

/// Draws SVG with librsvg, which is loaded on first use.
///
/// An SVG has no pixels: it is drawn at the size that is asked for, larger than its own too.
struct SVGDecoder: PreparedOnDemand {
    /// Opens librsvg, the fonts, and what librsvg and GdkPixbuf open with their first drawing and first picture.
    func prepare() {
        _ = SVGFonts.failure
        let svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="1" height="1">\
            <image width="1" height="1" href="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="/></svg>
            """
        _ = try? SVGDrawing(Array(svg.utf8)).pixels(1)
    }

    /// Parses the file.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try cancellation.check()
        let file = try SVGFile(bytes)
        let drawing = try SVGDrawing(file.measurable)
        var header = ImageHeader(format: .svg, storedSize: drawing.size, hasAlpha: true)
        header.isVector = true
        let side = Int(Double(file.pixels).squareRoot().rounded(.up))
        header.codedSize = .larger(drawing.size, PixelSize(square: side)) ?? drawing.size
        // What libxml2 and librsvg hold for an element, and pictures as they are read and as they are drawn.
        header.memory = file.scan.elements.saturatingTimes(1300).saturatingPlus(file.pixels.saturatingTimes(8))
        let missing = SVGFonts.missing(file.scan.characters)
        header.missingCharacters = missing.count
        header.missingCharacter = Int(missing.first?.value ?? 0)
        header.missingPictures = file.pictures.count { $0.isMissing }
        return header
    }

    /// Draws the picture at the size that fits the box.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try cancellation.check()
        let size = header.storedSize(for: box)
        let pixels = try SVGDrawing(SVGFile(bytes).drawable(cancellation)).pixels(size)
        return try header.image(pixels, size: size, layout: .rgba, profile: nil, cancellation)
    }
}
#endif
