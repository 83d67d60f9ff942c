import CImages
import Pipeline

/// Decodes a format with libvips, which is loaded when it is first used. libvips is told which of its loaders to use: it never
/// guesses from the bytes.
struct VipsDecoder: ImageDecoding {
    let format: ImageFormat
    let loader: cvips_loader

    /// Opens the file without decoding a pixel.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try VipsCall.run(cancellation) { call in
            try bytes.withUnsafeBufferPointer { buffer in
                let file = try VipsFile(buffer, format: format, loader: loader, call: &call)
                var header = file.imageHeader(format: format)
                // What the libraries below libvips hold.
                header.memory = format == .png ? 0 : header.storedSize.bytes(16)
                return header
            }
        }
    }

    /// Scales the rows as they come in.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try VipsCall.run(cancellation) { call in
            try bytes.withUnsafeBufferPointer { buffer in
                let file = try VipsFile(
                    buffer, format: header.format, loader: loader, allowDamage: options.allowTruncated, call: &call)
                let plan = ResamplePlan(
                    from: header.storedRegion.size, to: header.storedSize(for: box),
                    reserve: options.quality.blockReserve)
                return try file.decode(header: header, plan: plan, cancellation: cancellation, call: &call)
            }
        }
    }
}
