import CImages
import Pipeline

/// Turns a frame's pixels into palette indices, row by row from the top.
final class PaletteRows {
    /// This many pixels take a few milliseconds at most.
    static let pixelsBetweenChecks = 1 << 16

    private let pixels: UnsafeBufferPointer<UInt8>
    private let size: PixelSize
    private let rowLength: Int
    private let palette: Palette
    private let leftOut: UnsafePointer<UInt8>?
    private let clear: Int32
    private let dither: OpaquePointer
    private var y = 0
    private var pixelsSinceCheck = 0

    /// - Parameters:
    ///   - pixels: The frame's pixels, which have to outlive this object.
    ///   - dither: How much of a pixel's error is diffused to its neighbours, 0 to 1.
    ///   - clear: The index of transparent pixels.
    ///   - leftOut: For each pixel, whether it counts as transparent. It has to outlive this object.
    /// - Throws: `LoadError.Code.unencodable` if memory can't be allocated.
    init(
        _ pixels: UnsafeBufferPointer<UInt8>, size: PixelSize, format: cpalette_format, palette: Palette,
        dither: Double, clear: Int, leftOut: UnsafePointer<UInt8>? = nil
    ) throws(LoadError) {
        guard let state = cpalette_dither_new(size.width, format, Float(dither), palette.error) else {
            throw Palette.outOfMemory
        }
        self.dither = state
        self.pixels = pixels
        self.size = size
        self.palette = palette
        self.leftOut = leftOut
        self.clear = Int32(clear)
        rowLength = size.width * Int(format.channels)
    }

    deinit { cpalette_dither_free(dither) }

    /// Writes the next row's indices.
    /// - Throws: `CancellationError`.
    func writeNext(to indices: UnsafeMutablePointer<UInt8>, _ cancellation: WorkCancellation) throws {
        guard let start = pixels.baseAddress, y < size.height else { return }
        let row = start + y * rowLength
        let (above, below) = (y > 0 ? row - rowLength : row, y + 1 < size.height ? row + rowLength : row)
        if pixelsSinceCheck >= Self.pixelsBetweenChecks {
            try cancellation.check()
            pixelsSinceCheck = 0
        }
        cpalette_dither_row(
            dither, palette.search, above, row, below, leftOut.map { $0 + y * size.width }, clear, indices)
        pixelsSinceCheck += size.width
        y += 1
    }
}
