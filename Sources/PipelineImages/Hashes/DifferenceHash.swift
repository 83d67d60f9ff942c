public import Pipeline

extension DecodedImage {
    /// Returns the picture's difference hash (dHash). Pictures that look alike have most of its 64 bits in common. The
    /// number of different bits is the distance; up to 10 most often means the same picture in another size or quality.
    ///
    /// The first frame, over white, is reduced to the mean lumas (BT.709) of 9×8 equal areas. Each bit says whether an
    /// area is darker than the next one in its row, starting with the highest bit at the top left corner.
    /// - Throws: `LoadError.Code.unsupportedLayout` unless the pixels are 8-bit sRGB; `CancellationError`.
    public func differenceHash() async throws -> UInt64 {
        try await BlockingThreads.decoding.run { cancellation in
            let image = try still.opaque(over: .white, cancellation)
            let areas = try image.withPixels { try DifferenceHash.areas(of: $0, image.size, cancellation) }
            return (0..<64).reduce(0) { bits, index in
                let area = index / 8 * 9 + index % 8
                return bits << 1 | (areas[area] < areas[area + 1] ? 1 : 0)
            }
        }
    }
}

private enum DifferenceHash {
    /// Returns the mean lumas of 9×8 areas, in millionths. A pixel on a border counts partly for each area.
    static func areas(
        of pixels: UnsafeBufferPointer<UInt8>, _ size: PixelSize, _ cancellation: WorkCancellation
    ) throws -> [Double] {
        let (columns, rows) = (shares(of: size.width, among: 9), shares(of: size.height, among: 8))
        var areas = [Double](repeating: 0, count: 72)
        for y in 0..<size.height {
            if y % 16 == 0 { try cancellation.check() }
            var sums = [Double](repeating: 0, count: 9)
            for x in 0..<size.width {
                let luma = pixels.luma(y * size.width + x)
                for (column, share) in columns[x] { sums[column] += luma * share }
            }
            for (row, share) in rows[y] {
                for column in 0..<9 { areas[row * 9 + column] += sums[column] * share }
            }
        }
        // Differences below a millionth of a level are rounding errors.
        return areas.map { ($0 * 1e6).rounded() }
    }

    /// For each pixel along a side, the areas that it lies in, and its share of each area.
    private static func shares(of side: Int, among count: Int) -> [[(area: Int, share: Double)]] {
        (0..<side).map { pixel in
            // In units such that a pixel is `count` long and an area `side`.
            let (start, end) = (pixel * count, (pixel + 1) * count)
            return (start / side...(end - 1) / side).map { area in
                let overlap = min(end, (area + 1) * side) - max(start, area * side)
                return (area, Double(overlap) / Double(side))
            }
        }
    }
}
