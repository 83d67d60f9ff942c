#if PNG
import CImages
import Pipeline

/// Encodes PNG with a palette.
struct PNGPaletteEncoder {
    let options: EncodeOptions.PNG
    /// The most colours, at least 2.
    let colors: Int

    /// How long to look for the best colours, the same as GIF's default.
    private static let effort = 7

    func encode(
        _ image: DecodedImage, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let format = Self.format(of: image)
        let palette = try palette(of: image, cancellation)
        return try image.withPixels { pixels in
            let rows = try PNGIndexedRows(image, pixels, palette: palette, dither: options.dither, format: format)
            var file = PNGWriter()
            file.writeHeader(image.size, bits: rows.bits)
            file.write(metadata)
            file.write(palette)
            return try file.finish(rows.bytes(cancellation), level: options.compression)
        }
    }

    /// How the pixels of an image are read.
    static func format(of image: DecodedImage) -> cpalette_format {
        cpalette_format(channels: Int32(image.layout.channelCount), threshold: 0)
    }

    /// Returns the palette for all frames of an image.
    func palette(of image: DecodedImage, _ cancellation: WorkCancellation) throws -> Palette {
        let histogram = try ColorHistogram(format: Self.format(of: image), effort: Self.effort)
        for frame in image.frames.indices {
            try image.withPixels(ofFrame: frame) { try histogram.add($0, cancellation) }
        }
        let most = [8, 4, 2].lazy.map { 1 << $0 }.first { $0 <= colors } ?? 2
        return try Palette(of: histogram, most: most, beginsClear: true, effort: Self.effort, cancellation)
    }
}
#endif
