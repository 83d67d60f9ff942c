import CImages
import Pipeline

/// The rows of a picture with a palette as PNG packs them: not filtered, as clause 12.8 of ISO/IEC 15948 advises, and with
/// as many bits a pixel as the palette needs.
final class PNGIndexedRows: PNGRowSource {
    let palette: Palette
    /// Bits of an index: 1, 2, 4 or 8.
    let bits: Int
    let size: PixelSize
    private let rows: PaletteRows
    private var indices: [UInt8]

    /// - Parameter pixels: the first frame's, which have to stay.
    init(
        _ image: DecodedImage, _ pixels: UnsafeBufferPointer<UInt8>, palette: Palette, dither: Double,
        format: cpalette_format
    ) throws(LoadError) {
        self.palette = palette
        size = image.size
        bits = [1, 2, 4].first { 1 << $0 >= palette.count } ?? 8
        indices = [UInt8](repeating: 0, count: size.width)
        // What is clear is the first colour.
        rows = try PaletteRows(pixels, size: size, format: format, palette: palette, dither: dither, clear: 0)
    }

    var rowLength: Int { (size.width * bits + 7) / 8 + 1 }

    func write(_ rows: Range<Int>, to out: UnsafeMutablePointer<UInt8>, _ cancellation: WorkCancellation) throws {
        for index in 0..<rows.count {
            let line = out + index * rowLength
            line[0] = 0
            try indices.withUnsafeMutableBufferPointer { indices in
                guard let start = indices.baseAddress else { return }
                try self.rows.writeNext(to: start, cancellation)
                cpng_pack(start, line + 1, indices.count, Int32(bits))
            }
        }
    }
}
