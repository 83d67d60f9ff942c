#if PNG
import CImages
import Pipeline

/// The rows of a picture with a palette, packed to the bits that the palette needs. They aren't filtered, as clause
/// 12.8 of ISO/IEC 15948 advises.
struct PNGIndexedRows {
    let palette: Palette
    /// The bits of an index: 1, 2, 4 or 8.
    let bits: Int
    private let size: PixelSize
    private let rows: PaletteRows

    /// - Parameter pixels: The pixels of the first frame, which have to outlive this object.
    init(
        _ image: DecodedImage, _ pixels: UnsafeBufferPointer<UInt8>, palette: Palette, dither: Double,
        format: cpalette_format
    ) throws(LoadError) {
        self.palette = palette
        size = image.size
        bits = [1, 2, 4].first { 1 << $0 >= palette.count } ?? 8
        // The first colour is the transparent one.
        rows = try PaletteRows(pixels, size: size, format: format, palette: palette, dither: dither, clear: 0)
    }

    /// Returns the packed indices of all rows.
    /// - Throws: `CancellationError`.
    func bytes(_ cancellation: WorkCancellation) throws -> [UInt8] {
        let length = (size.width * bits + 7) / 8 + 1
        return try [UInt8](unsafeUninitializedCapacity: length * size.height) { out, count in
            try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size.width) { indices in
                guard let start = indices.baseAddress, var line = out.baseAddress else { return }
                for _ in 0..<size.height {
                    try rows.writeNext(to: start, cancellation)
                    line[0] = 0
                    cpng_pack(start, line + 1, size.width, Int32(bits))
                    line += length
                }
                count = length * size.height
            }
        }
    }
}
#endif
