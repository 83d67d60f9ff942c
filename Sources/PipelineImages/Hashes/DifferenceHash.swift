public import Pipeline

extension DecodedImage {
    /// Returns the picture's difference hash, as `imagehash.dhash` of Python's ImageHash calculates it. Pictures that
    /// look alike have most of its 64 bits in common. The number of different bits is the distance; up to 10 most often
    /// means the same picture in another size or quality.
    ///
    /// The first frame, over white, is reduced to 9×8 lumas (BT.601) with a Lanczos-3 kernel. Each bit says whether a
    /// luma is darker than the next one in its row, starting with the highest bit at the top left corner. ImageHash takes
    /// neither transparency nor orientation nor colour profile into account, and so differs where a file has one.
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
    /// Returns 9×8 lumas, from left to right and top to bottom, in levels.
    static func areas(
        of pixels: UnsafeBufferPointer<UInt8>, _ size: PixelSize, _ cancellation: WorkCancellation
    ) throws -> [Double] {
        let (columns, rows) = (shares(of: size.width, among: 9), shares(of: size.height, among: 8))
        var areas = [Double](repeating: 0, count: 72)
        for y in 0..<size.height {
            if y % 16 == 0 { try cancellation.check() }
            var sums = [Double](repeating: 0, count: 9)
            for x in 0..<size.width {
                let luma = luma(of: pixels, y * size.width + x)
                for (column, share) in columns[x] { sums[column] += luma * share }
            }
            for (row, share) in rows[y] {
                for column in 0..<9 { areas[row * 9 + column] += level(sums[column]) * share }
            }
        }
        return areas.map(level)
    }

    /// Rounds as Pillow does after each direction, since equal neighbours give no bit.
    private static func level(_ value: Double) -> Double { min(255, max(0, value.rounded())) }

    /// Pillow's luma, in 1/65,536 of the weights of BT.601.
    private static func luma(of pixels: UnsafeBufferPointer<UInt8>, _ pixel: Int) -> Double {
        let (red, green, blue) = (Int(pixels[3 * pixel]), Int(pixels[3 * pixel + 1]), Int(pixels[3 * pixel + 2]))
        return Double((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16)
    }

    /// For each pixel along a side, the areas that it contributes to, and how much to each.
    private static func shares(of side: Int, among count: Int) -> [[(area: Int, share: Double)]] {
        var shares = [[(area: Int, share: Double)]](repeating: [], count: side)
        let scale = Double(side) / Double(count)
        // The kernel is never narrower than a pixel.
        let width = max(1, scale)
        for area in 0..<count {
            let center = (Double(area) + 0.5) * scale
            let reached = max(0, Int(center - 3 * width + 0.5))..<min(side, Int(center + 3 * width + 0.5))
            var curve = LanczosCurve(step: 1 / width, count: reached.count)
            curve.trace(from: Double(reached.lowerBound) + 0.5 - center)
            let sum = curve.values.reduce(0, +)
            for (pixel, weight) in zip(reached, curve.values) { shares[pixel].append((area, weight / sum)) }
        }
        return shares
    }
}
