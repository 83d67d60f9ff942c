import CImages
public import Pipeline

/// Decodes with libvips: PNG, and where they are chosen SVG and JPEG XL.
///
/// libvips is told which of its loaders to use: it never guesses from the bytes.
public struct VipsDecoder: ImageDecoding {
    /// PNG, SVG and JPEG XL: the others have decoders of their own.
    public let formats: Set<ImageFormat> = [.png, .svg, .jxl]

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
                // What the libraries below libvips hold.
                header.memory = format == .png ? 0 : header.storedSize.bytes(16)
                return header
            }
        }
    }

    /// Scales the rows as they come in.
    public func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try VipsCall.run(cancellation) { call in
            try bytes.withUnsafeBufferPointer { buffer in
                let file = try VipsFile(
                    buffer, format: header.format, allowDamage: options.allowTruncated, call: &call)
                let plan = ResamplePlan(
                    from: file.size, to: header.storedSize(for: box), reserve: options.quality.blockReserve)
                return try file.decode(header: header, plan: plan, cancellation: cancellation, call: &call)
            }
        }
    }
}
