public import Pipeline

/// Decodes JPEG with libjpeg-turbo, which scales as it decodes, by 1/2, 1/4 or 1/8; the rest is scaled row by row as the
/// rows come out of it. Ink (CMYK) is left to libvips.
public struct JPEGDecoder: ImageDecoding {
    /// JPEG.
    public let formats: Set<ImageFormat> = [.jpeg]

    /// What has profiles for ink.
    private let ink = VipsDecoder()

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
            guard let layout = file.layout else {
                return try ink.decode(
                    bytes, header: header, box: box, options: options, cancellation: cancellation)
            }
            let scale = JPEGScale(header: header, box: box, quality: options.quality)
            return try header.image(
                try pixels(of: file, scale, layout, options.quality), size: scale.target, layout: layout,
                profile: file.profile, cancellation)
        }
    }

    private func pixels(
        of file: JPEGFile, _ scale: JPEGScale, _ layout: PixelLayout, _ quality: DecodeQuality
    ) throws -> [UInt8] {
        let size = try file.start(eighths: scale.eighths)
        guard size != scale.target else { return try file.pixels(size: size, layout: layout) }
        let resampler = Resampler(scale.plan(from: size, quality: quality), layout: layout)
        try file.forEachStrip(size: size, layout: layout) { strip, rows in
            resampler.push(strip, rows: rows, stride: size.width * layout.channels)
        }
        return resampler.finish()
    }
}
