#if BMP
import Pipeline

/// Decodes run-length encoded pixels: runs of one palette index, and stretches of different ones.
struct BitmapRuns {
    private let bitmap: Bitmap

    init(_ bitmap: Bitmap) { self.bitmap = bitmap }

    /// Returns a palette index for each pixel, in the stored order of rows.
    func indices(_ bytes: [UInt8], allowTruncated: Bool, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let (width, height) = (bitmap.size.width, bitmap.size.height)
        var result: [UInt8] = []
        result.reserveCapacity(width * height)
        // Row by row, since allocating everything at once takes long.
        for _ in 0..<height {
            try cancellation.check()
            result.append(contentsOf: repeatElement(0, count: width))
        }
        var (x, y, position) = (0, 0, bitmap.start)
        func nibble(_ byte: UInt8, _ index: Int) -> UInt8 {
            bitmap.bits == 8 ? byte : index % 2 == 0 ? byte >> 4 : byte & 15
        }
        var steps = 0
        while y < height {
            steps += 1
            if steps % 65_536 == 0 { try cancellation.check() }
            // Pixels beyond the end of the row are skipped.
            let (row, room) = (y * width + x, max(0, width - x))
            guard position + 2 <= bytes.count else {
                if allowTruncated { break }
                throw Bitmap.damaged("it ends too soon")
            }
            let (count, value) = (Int(bytes[position]), bytes[position + 1])
            position += 2
            if count > 0 {
                for index in 0..<min(count, room) { result[row + index] = nibble(value, index) }
                x += count
            } else if value == 0 {
                (x, y) = (0, y + 1)
            } else if value == 1 {
                break
            } else if value == 2 {
                guard position + 2 <= bytes.count else { continue }
                (x, y) = (x + Int(bytes[position]), y + Int(bytes[position + 1]))
                position += 2
            } else {
                let length = bitmap.bits == 8 ? Int(value) : (Int(value) + 1) / 2
                guard position + length <= bytes.count else {
                    position = bytes.count
                    continue
                }
                for index in 0..<min(Int(value), room) {
                    result[row + index] = nibble(bytes[position + (bitmap.bits == 8 ? index : index / 2)], index)
                }
                x += Int(value)
                // Stretches are padded to 16 bits.
                position += length + length % 2
            }
        }
        return result
    }
}
#endif
