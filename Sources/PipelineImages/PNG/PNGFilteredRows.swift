import CImages
import Pipeline

/// The rows of a picture as PNG packs them: each behind the number of its filter (ISO/IEC 15948 clause 9).
struct PNGFilteredRows: PNGRowSource {
    let image: DecodedImage
    let filter: EncodeOptions.PNG.Filter
    /// What stands above the first row.
    private let nothing: [UInt8]

    init(_ image: DecodedImage, _ filter: EncodeOptions.PNG.Filter) {
        self.image = image
        self.filter = filter
        nothing = [UInt8](repeating: 0, count: image.width * image.layout.channelCount)
    }

    var size: PixelSize { image.size }

    /// Bytes of one row.
    var rowLength: Int { nothing.count + 1 }

    /// Bytes of all rows.
    var length: Int { rowLength * image.height }

    /// Filters some rows.
    /// - Parameter out: has place for them.
    /// - Throws: `CancellationError`.
    func write(_ rows: Range<Int>, to out: UnsafeMutablePointer<UInt8>, _ cancellation: WorkCancellation) throws {
        let (pixel, length) = (image.layout.channelCount, nothing.count)
        try image.withPixels { pixels in
            try nothing.withUnsafeBufferPointer { nothing in
                guard let start = pixels.baseAddress, let zeros = nothing.baseAddress else { return }
                for (index, y) in rows.enumerated() {
                    if index % 64 == 0 { try cancellation.check() }
                    let row = start + y * length
                    let above = y == 0 ? zeros : row - length
                    let line = out + index * rowLength
                    let number =
                        filter == .adaptive
                        ? cpng_best_filter(row, above, line + 1, length, pixel) : Int32(filter.rawValue)
                    line[0] = UInt8(number)
                    cpng_filter(number, row, above, line + 1, length, pixel)
                }
            }
        }
    }
}
