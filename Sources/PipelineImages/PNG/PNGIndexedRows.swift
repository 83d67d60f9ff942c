import CImages
import Pipeline

/// The rows of a picture with a palette as PNG packs them: not filtered, as clause 12.8 of ISO/IEC 15948 advises, and with
/// as many bits a pixel as the palette needs.
struct PNGIndexedRows {
    let palette: Palette
    /// Bits of an index: 1, 2, 4 or 8.
    let bits: Int
    private let size: PixelSize
    private let rows: PaletteRows

    /// - Parameter pixels: the first frame's, which have to stay.
    init(
        _ image: DecodedImage, _ pixels: UnsafeBufferPointer<UInt8>, palette: Palette, dither: Double,
        format: cpalette_format
    ) throws(LoadError) {
        self.palette = palette
        size = image.size
        bits = [1, 2, 4].first { 1 << $0 >= palette.count } ?? 8
        // What is clear is the first colour.
        rows = try PaletteRows(pixels, size: size, format: format, palette: palette, dither: dither, clear: 0)
    }

    /// Finds the indices of all rows.
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
