import Pipeline

@testable import PipelineImages

/// Reads what reaches librsvg and libjxl, which are used in confined processes only and have faults of their own.
enum SVGFuzzing {
    /// Reads an SVG and replaces the pictures in it that librsvg can't read.
    static func read(_ bytes: [UInt8]) {
        // librsvg would read an SVG in it.
        let pictures = SVGScan(bytes).dataURLs.compactMap(SVGPicture.init)
        guard !pictures.contains(where: { $0.codec?.format == .svg }), !SVGSignature.isCompressed(bytes),
            SVGSignature.utf8(ofUTF16: bytes) == nil, let file = try? SVGFile(bytes),
            let drawable = try? file.drawable(WorkCancellation())
        else { return }
        precondition(file.pixels <= SVGBounds.pixels, "pictures beyond the bounds passed")
        for picture in SVGScan(drawable).dataURLs.compactMap(SVGPicture.init) {
            precondition(picture.isReadable, "a picture was left that librsvg can't read")
        }
    }

    /// Finds the codestream in a JPEG XL file.
    static func findCodestream(_ bytes: [UInt8]) {
        guard let stream = try? JPEGXLContainer.codestream(of: bytes) else { return }
        precondition(stream.count <= bytes.count, "a codestream longer than its file")
        guard JPEGXLContainer.isBare(stream) else { return }
        precondition((try? JPEGXLContainer.codestream(of: stream)) == stream, "a codestream changes")
    }
}
