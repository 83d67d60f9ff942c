import Pipeline

/// Runs of equal pixels, and stretches of different ones, each an index of the palette.
struct BitmapRuns {
    private let bitmap: Bitmap

    init(_ bitmap: Bitmap) { self.bitmap = bitmap }

    /// An index for each pixel, from the row that is stored first.
    func indices(_ bytes: [UInt8], allowTruncated: Bool, _ cancellation: WorkCancellation) throws -> [UInt8] {
        let (width, height) = (bitmap.size.width, bitmap.size.height)
        var result: [UInt8] = []
        result.reserveCapacity(width * height)
        // Row by row, since so much memory takes long to be had.
        for _ in 0..<height {
            try cancellation.check()
            result.append(contentsOf: repeatElement(0, count: width))
        }
        var (x, y, position) = (0, 0, bitmap.start)
        func put(_ index: UInt8) {
            if x < width { result[y * width + x] = index }
            x += 1
        }
        func nibble(_ byte: UInt8, _ index: Int) -> UInt8 {
            bitmap.bits == 8 ? byte : index % 2 == 0 ? byte >> 4 : byte & 15
        }
        while y < height {
            guard position + 2 <= bytes.count else {
                if allowTruncated { break }
                throw Bitmap.damaged("it ends too soon")
            }
            let (count, value) = (Int(bytes[position]), bytes[position + 1])
            position += 2
            if count > 0 {
                for index in 0..<count { put(nibble(value, index)) }
            } else if value == 0 {
                try cancellation.check()
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
                for index in 0..<Int(value) {
                    put(nibble(bytes[position + (bitmap.bits == 8 ? index : index / 2)], index))
                }
                // Stretches are padded to 16 bits.
                position += length + length % 2
            }
        }
        return result
    }
}
