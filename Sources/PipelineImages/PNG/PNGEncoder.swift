#if PNG
import Pipeline

/// Encodes PNG, animations with all their frames. Rows are filtered here and deflated with libdeflate, in a third of
/// zlib's time.
struct PNGEncoder: ImageEncoding {
    let defaults = EncodeOptions.PNG()
    let holdsMotion = true
    let holdsProfile = true
    let holdsDepth = true
    let holdsHDR = true
    // libdeflate compresses all rows in one go.
    let canBeStopped = false

    func fidelity(_ options: EncodeOptions.PNG) -> Fidelity { options.colors == nil ? .exact : .fixed }

    func values(of options: EncodeOptions.PNG) -> [(name: String, value: String)] {
        [
            ("compression", "\(options.compression)"), ("filter", "\(options.filter)"),
            ("colours", options.colors.map { "\($0)" } ?? ""), ("dither", "\(options.dither)"),
        ]
    }

    func check(_ options: EncodeOptions.PNG) throws(LoadError) {
        try EncodeOptions.check("png.compression", options.compression, 0...9)
        if let colors = options.colors { try EncodeOptions.check("png.colours", colors, 2...256) }
        try EncodeOptions.check("png.dither", options.dither, 0...1)
    }

    func encode(
        _ image: DecodedImage, quality: Int, options: EncodeOptions.PNG, metadata: EmbeddedMetadata,
        cancellation: WorkCancellation
    ) throws -> [UInt8] {
        if image.isAnimated {
            return try PNGAnimationEncoder(options: options)
                .encode(image, metadata: metadata, cancellation: cancellation)
        }
        if let colors = options.colors {
            return try PNGPaletteEncoder(options: options, colors: colors)
                .encode(image.reducedToBytes(cancellation), metadata: metadata, cancellation: cancellation)
        }
        var file = PNGWriter()
        file.writeHeader(image.size, image.layout)
        file.write(metadata)
        let rows = try PNGFilteredRows(image, options.filter).bytes(cancellation)
        return try file.finish(rows, level: options.compression)
    }
}
#endif
