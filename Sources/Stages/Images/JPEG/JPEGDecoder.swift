public import Pipeline

/// Decodes JPEG with libjpeg-turbo, which scales as it decodes, by 1/2, 1/4 or 1/8; the rest is scaled row by row as the
/// rows come out of it. Inks (CMYK) become colours when all reduction is over.
public struct JPEGDecoder: ImageDecoding {
    /// JPEG.
    public let formats: Set<ImageFormat> = [.jpeg]

    /// Makes a decoder.
    public init() {}

    /// Reads the file's segments up to the first scan.
    public func header(
        of bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation
    ) throws -> ImageHeader {
        try bytes.withUnsafeBufferPointer { buffer in
            try JPEGFile(buffer, allowDamage: true, cancellation: cancellation).imageHeader
        }
    }

    /// Decodes no more than is needed for the box, at the exact size that fits it.
    public func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try bytes.withUnsafeBufferPointer { buffer in
            let file = try JPEGFile(buffer, allowDamage: options.allowTruncated, cancellation: cancellation)
            let scale = JPEGScale(header: header, box: box, quality: options.quality)
            let pixels = try pixels(of: file, scale, options.quality, cancellation)
            guard file.isInk else {
                return try header.image(
                    pixels, size: scale.target, layout: file.layout, profile: file.profile, cancellation)
            }
            let colours = try InkPixels(pixels, size: scale.target, profile: file.profile ?? []).colours(cancellation)
            return try header.image(colours, size: scale.target, layout: .rgb, profile: nil, cancellation)
        }
    }

    private func pixels(
        of file: JPEGFile, _ scale: JPEGScale, _ quality: DecodeQuality, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        let layout = file.layout
        let size = try file.start(eighths: scale.eighths)
        guard size != scale.target else { return try file.pixels(size: size, layout: layout) }
        let resampler = try Resampler(
            scale.plan(from: size, quality: quality), layout: layout, isInk: file.isInk, cancellation: cancellation)
        try file.forEachStrip(size: size, layout: layout) { strip, rows in
            resampler.push(strip, rows: rows, stride: size.width * layout.channels)
        }
        return resampler.finish()
    }
}
