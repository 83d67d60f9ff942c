#if BMP
import Pipeline

/// Decodes Windows bitmaps: uncompressed with 1, 2, 4, 8, 16, 24 or 32 bits a pixel, or run-length encoded with 4 or 8.
///
/// It is a model for other decoders. It reads and checks the header without touching a pixel, scales rows as it reads
/// them, and trusts no byte.
struct BMPDecoder: ImageDecoding {
    /// Reads the file's two headers.
    func header(of bytes: [UInt8], cancellation: WorkCancellation) throws -> ImageHeader {
        let bitmap = try Bitmap(bytes)
        var header = ImageHeader(
            format: .bmp, storedSize: bitmap.size, hasAlpha: bitmap.layout.hasAlpha, hasProfile: !bitmap.profile.isEmpty
        )
        header.memory = bitmap.isRunLength ? bitmap.size.bytes(1) : 0
        header.take(profile: bitmap.profile)
        return header
    }

    func metadata(of bytes: [UInt8], cancellation: WorkCancellation) throws -> EmbeddedMetadata {
        EmbeddedMetadata(profile: try Bitmap(bytes).profile)
    }

    /// Decodes row by row. The missing pixels of a truncated file, if allowed, are 0.
    func decode(
        _ bytes: [UInt8], header: ImageHeader, box: PixelSize?, options: DecodeOptions, cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let bitmap = try Bitmap(bytes)
        let size = header.storedSize(for: box)
        let sink = try RowSink(
            ResamplePlan(from: bitmap.size, to: size, reserve: options.quality.blockReserve), layout: bitmap.layout,
            cancellation: cancellation)
        let runs =
            bitmap.isRunLength
            ? try BitmapRuns(bitmap).indices(bytes, allowTruncated: options.allowTruncated, cancellation) : nil
        var row = [UInt8](repeating: 0, count: bitmap.size.width * bitmap.layout.channelCount)
        for y in 0..<bitmap.size.height {
            try cancellation.check()
            let stored = bitmap.isTopDown ? y : bitmap.size.height - 1 - y
            if let runs {
                let start = stored * bitmap.size.width
                bitmap.expand(runs[start..<start + bitmap.size.width], bits: 8, into: &row)
            } else {
                let packed = try bitmap.packedRow(stored, of: bytes, allowTruncated: options.allowTruncated)
                bitmap.expand(packed, bits: bitmap.bits, into: &row)
            }
            row.withUnsafeBufferPointer { if let start = $0.baseAddress { sink.push(start) } }
        }
        return try header.image(
            sink.finish(), size: size, layout: bitmap.layout, profile: bitmap.profile, cancellation)
    }
}
#endif
