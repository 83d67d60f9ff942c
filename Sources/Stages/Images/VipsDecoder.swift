import CVips
public import Pipeline

/// Decodes with libvips: JPEG, PNG, GIF, TIFF, AVIF and HEIC, and where they are chosen SVG and JPEG XL.
///
/// libvips is told which of its loaders to use: it never guesses from the bytes.
public struct VipsDecoder: ImageDecoding {
    /// All that libvips reads with a library of its own for each.
    public let formats: Set<ImageFormat> = [.jpeg, .png, .gif, .tiff, .avif, .heic, .svg, .jxl]

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
                if format == .avif || format == .heic {
                    header.codedSize = try HEIFCodedSize.largest(in: bytes) ?? header.storedSize
                }
                return header
            }
        }
    }

    /// Decodes at the JPEG's 1/2, 1/4 or 1/8 where that leaves enough; what is then still twice too large is averaged
    /// in whole blocks as the rows come in.
    public func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let plan = VipsScale(header: header, box: box)
        let frames = header.format == .gif ? max(1, min(header.frames, options.frames)) : 1
        return try VipsCall.run(cancellation) { call in
            try bytes.withUnsafeBufferPointer { buffer in
                let file = try VipsFile(
                    buffer, format: header.format, shrink: plan.shrink, frames: frames,
                    allowDamage: options.allowTruncated, call: &call)
                return try file.decode(
                    frames, header: header, reduction: plan.reduction, cancellation: cancellation, call: &call)
            }
        }
    }
}
