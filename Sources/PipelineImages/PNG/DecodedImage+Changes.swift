#if PNG
import LibC
import Pipeline

extension DecodedImage {
    /// Returns the smallest region in which a frame differs from the previous one; `nil` if both are equal.
    /// - Throws: `CancellationError`.
    func changedRegion(ofFrame number: Int, _ cancellation: WorkCancellation) throws -> PixelRegion? {
        let (pixel, length) = (layout.channelCount, width * layout.channelCount)
        // The bytes of a row and the rows that differ.
        var (columns, rows): (Range<Int>?, Range<Int>?)
        try withPixels(ofFrame: number) { new in
            try withPixels(ofFrame: number - 1) { old in
                guard let new = new.baseAddress, let old = old.baseAddress else { return }
                for y in 0..<height {
                    if y % 64 == 0 { try cancellation.check() }
                    let (row, before) = (new + y * length, old + y * length)
                    guard memcmp(row, before, length) != 0 else { continue }
                    rows = (rows?.lowerBound ?? y)..<y + 1
                    // Bytes that are known to be within the region aren't compared.
                    let first = (0..<(columns?.lowerBound ?? length)).first { row[$0] != before[$0] }
                    let last = ((columns?.upperBound ?? 0)..<length).last { row[$0] != before[$0] }
                    let start = first ?? columns?.lowerBound ?? 0
                    columns = start..<(last.map { $0 + 1 } ?? columns?.upperBound ?? length)
                }
            }
        }
        guard let columns, let rows else { return nil }
        let (left, right) = (columns.lowerBound / pixel, (columns.upperBound - 1) / pixel + 1)
        return PixelRegion(
            x: left, y: rows.lowerBound, size: PixelSize(width: right - left, height: rows.count))
    }
}
#endif
