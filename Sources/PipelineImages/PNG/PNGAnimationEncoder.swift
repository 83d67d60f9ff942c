#if PNG
import Pipeline

/// Encodes an animation as PNG. Of each frame, only the smallest rectangle around its changes is written.
struct PNGAnimationEncoder {
    let options: EncodeOptions.PNG

    func encode(
        _ image: DecodedImage, metadata: EmbeddedMetadata, cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var file = PNGWriter()
        let indexed = try options.colors.map {
            let palette = try PNGPaletteEncoder(options: options, colors: $0).palette(of: image, cancellation)
            return PNGIndexedFrames(image, palette: palette, dither: options.dither)
        }
        if let indexed {
            file.writeHeader(image.size, bits: indexed.bits)
        } else {
            file.writeHeader(image.size, image.layout)
        }
        file.write(metadata)
        var writer = PNGAnimationWriter(file, frames: image.frames.count, plays: image.loopCount)
        if let indexed { writer.write(indexed.palette) }
        for (number, frame) in image.frames.enumerated() {
            try cancellation.check()
            let region = try region(ofFrame: number, of: image, cancellation)
            let rows =
                try indexed?.rows(ofFrame: number, in: region, cancellation)
                ?? PNGFilteredRows(image, frame: number, region: region, options.filter).bytes(cancellation)
            try cancellation.check()
            writer.writeFrame(
                try PNGWriter.deflated(rows, level: options.compression), in: region, delay: frame.delay)
        }
        return writer.end()
    }

    /// Returns the part of a frame that is written: all of the first one. A frame that changes nothing still needs a
    /// pixel, to be shown for its time.
    private func region(
        ofFrame number: Int, of image: DecodedImage, _ cancellation: WorkCancellation
    ) throws -> PixelRegion {
        if number == 0 { return PixelRegion(x: 0, y: 0, size: image.size) }
        return try image.changedRegion(ofFrame: number, cancellation)
            ?? PixelRegion(x: 0, y: 0, size: PixelSize(square: 1))
    }
}
#endif
