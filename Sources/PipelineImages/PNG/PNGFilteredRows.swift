#if PNG
import CImages
import Pipeline

/// The filtered rows of a part of a frame, each preceded by the number of its filter (ISO/IEC 15948 clause 9).
struct PNGFilteredRows {
    let image: DecodedImage
    let filter: EncodeOptions.PNG.Filter
    private let frame: Int
    private let region: PixelRegion
    /// The row of zeros above the first row.
    private let nothing: [UInt8]

    /// - Parameters:
    ///   - frame: The frame's index; by default the first.
    ///   - region: The part; by default the whole frame.
    init(_ image: DecodedImage, frame: Int = 0, region: PixelRegion? = nil, _ filter: EncodeOptions.PNG.Filter) {
        self.image = image
        self.filter = filter
        self.frame = frame
        self.region = region ?? PixelRegion(x: 0, y: 0, size: image.size)
        nothing = [UInt8](repeating: 0, count: self.region.size.width * image.layout.bytesPerPixel)
    }

    /// Filters all rows.
    /// - Throws: `CancellationError`.
    func bytes(_ cancellation: WorkCancellation) throws -> [UInt8] {
        let (pixel, length) = (image.layout.bytesPerPixel, nothing.count)
        let step = image.width * pixel
        let capacity = (length + 1) * region.size.height
        return try [UInt8](unsafeUninitializedCapacity: capacity) { out, count in
            try image.withBytesOfPNG(frame) { pixels in
                try nothing.withUnsafeBufferPointer { nothing in
                    guard let start = pixels.baseAddress, let zeros = nothing.baseAddress, var line = out.baseAddress
                    else { return }
                    for y in 0..<region.size.height {
                        if y % 64 == 0 { try cancellation.check() }
                        let row = start + (region.y + y) * step + region.x * pixel
                        let above = y == 0 ? zeros : row - step
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

extension DecodedImage {
    /// Reads a frame's bytes in PNG's order, in which the high byte of a sample comes first.
    fileprivate func withBytesOfPNG(_ frame: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        guard layout.isDeep else { return try withPixels(ofFrame: frame, body) }
        let bytes = frames[frame].bytes
        let swapped = [UInt8](unsafeUninitializedCapacity: bytes.count) { out, count in
            for index in stride(from: 0, to: bytes.count, by: 2) {
                let level = UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8
                (out[index], out[index + 1]) = (UInt8(level >> 8), UInt8(truncatingIfNeeded: level))
            }
            count = bytes.count
        }
        try swapped.withUnsafeBufferPointer(body)
    }
}
#endif
