#if Vips
import CVips
import Pipeline

/// Decodes a format with libvips, which is loaded on first use. The loader is given, so libvips never guesses the
/// format from the bytes.
struct VipsDecoder: ImageDecoding {
    let format: ImageFormat
    let loader: cvips_loader

    /// Opens the file without decoding a pixel.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        try VipsCall.run(cancellation) { call in
            try bytes.withUnsafeBufferPointer { buffer in
                let file = try VipsFile(buffer, format: format, loader: loader, call: &call)
                var header = file.imageHeader(format: format)
                // The memory of the libraries below libvips.
                header.memory = format == .png ? 0 : header.storedSize.bytes(16)
                return header
            }
        }
    }

    /// Scales rows as libvips decodes them.
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
#endif
