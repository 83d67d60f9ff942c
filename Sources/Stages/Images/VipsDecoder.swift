import CVips
public import Pipeline

/// Decodes with libvips: JPEG, PNG and TIFF, and where they are chosen SVG and JPEG XL.
///
/// libvips is told which of its loaders to use: it never guesses from the bytes.
public struct VipsDecoder: ImageDecoding {
    /// All that libvips reads with a library of its own for each, but for HEIF, whose files need ``HEICDecoder``'s checks.
    public let formats: Set<ImageFormat> = [.jpeg, .png, .tiff, .svg, .jxl]

    /// Makes a decoder; libvips is loaded when it is first used.
    public init() {}

    /// Opens the file without decoding a pixel.
    public func header(
        of bytes: [UInt8], format: ImageFormat, cancellation: WorkCancellation
    ) throws -> ImageHeader {
        try VipsCall.run(cancellation) { call in
            try bytes.withUnsafeBufferPointer { buffer in
                let file = try VipsFile(buffer, format: format, call: &call)
                var header = file.imageHeader(format: format)
                header.memory = Self.memory(header, channels: Int(file.header.channels))
                return header
            }
        }
    }

    /// What the libraries below libvips hold.
    private static func memory(_ header: ImageHeader, channels: Int) -> Int {
        switch header.format {
        // At worst one strip for all.
        case .tiff: header.storedSize.bytes(channels * header.bitsPerChannel / 8)
        case .svg, .jxl: header.storedSize.bytes(16)
        default: 0
        }
    }

    /// Decodes at the JPEG's 1/2, 1/4 or 1/8 where that leaves enough; the rest is scaled as the rows come in.
    public func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let scale = JPEGScale(header: header, box: box, quality: options.quality)
        let shrink = header.format == .jpeg ? 8 / scale.eighths : 1
        return try VipsCall.run(cancellation) { call in
            try bytes.withUnsafeBufferPointer { buffer in
                let file = try VipsFile(
                    buffer, format: header.format, shrink: shrink, allowDamage: options.allowTruncated, call: &call)
                let plan =
                    shrink > 1
                    ? scale.plan(from: file.size, quality: options.quality)
                    : ResamplePlan(from: file.size, to: scale.target, reserve: options.quality.blockReserve)
                return try file.decode(header: header, plan: plan, cancellation: cancellation, call: &call)
            }
        }
    }
}
