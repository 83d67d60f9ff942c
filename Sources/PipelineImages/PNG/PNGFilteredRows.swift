#if PNG
import CImages
import Pipeline

/// The filtered rows of a picture, each preceded by the number of its filter (ISO/IEC 15948 clause 9).
struct PNGFilteredRows {
    let image: DecodedImage
    let filter: EncodeOptions.PNG.Filter
    /// The row of zeros above the first row.
    private let nothing: [UInt8]

    init(_ image: DecodedImage, _ filter: EncodeOptions.PNG.Filter) {
        self.image = image
        self.filter = filter
        nothing = [UInt8](repeating: 0, count: image.width * image.layout.channelCount)
    }

    /// Filters all rows.
    /// - Throws: `CancellationError`.
    func bytes(_ cancellation: WorkCancellation) throws -> [UInt8] {
        let (pixel, length) = (image.layout.channelCount, nothing.count)
        let capacity = (length + 1) * image.height
        return try [UInt8](unsafeUninitializedCapacity: capacity) { out, count in
            try image.withPixels { pixels in
                try nothing.withUnsafeBufferPointer { nothing in
                    guard let start = pixels.baseAddress, let zeros = nothing.baseAddress, var line = out.baseAddress
                    else { return }
                    for y in 0..<image.height {
                        if y % 64 == 0 { try cancellation.check() }
                        let row = start + y * length
                        let above = y == 0 ? zeros : row - length
                        let number =
                            filter == .adaptive
                            ? cpng_best_filter(row, above, line + 1, length, pixel) : Int32(filter.rawValue)
                        line[0] = UInt8(number)
                        cpng_filter(number, row, above, line + 1, length, pixel)
                        line += length + 1
                    }
                    count = capacity
                }
            }
        }
    }
}
#endif
