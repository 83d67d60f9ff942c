import LibC
import Pipeline

/// The structural similarity (SSIM) of Wang, Bovik, Sheikh and Simoncelli, IEEE Transactions on Image Processing 13
/// (4), 2004: K₁ = 0.01, K₂ = 0.03, L = 255, a Gaussian window of 11×11 with a deviation of 1.5, and the mean over all
/// windows inside the picture. The window shrinks to a shorter side.
struct StructuralSimilarity {
    /// How many sums a window has: left, right, their squares, and their product.
    private static let sums = 5

    private let size: PixelSize
    private let across: [Double]
    private let down: [Double]
    private let columns: Int

    init(_ size: PixelSize) {
        self.size = size
        across = Self.window(in: size.width)
        down = Self.window(in: size.height)
        columns = size.width - across.count + 1
    }

    private static func window(in side: Int) -> [Double] {
        let count = min(11, side)
        let weights = (0..<count).map { index in
            let distance = Double(index) - Double(count - 1) / 2
            return exp(-distance * distance / (2 * 1.5 * 1.5))
        }
        let sum = weights.reduce(0, +)
        return weights.map { $0 / sum }
    }

    /// Returns the mean similarity of two pictures with RGB pixels. It holds only as many rows of sums as a window is
    /// high.
    func mean(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>, _ cancellation: WorkCancellation
    ) throws -> Double {
        var rows = [Double](repeating: 0, count: down.count * columns * Self.sums)
        var lumas = [Double](repeating: 0, count: 2 * size.width)
        var total = 0.0
        try rows.withUnsafeMutableBufferPointer { rows in
            try lumas.withUnsafeMutableBufferPointer { lumas in
                for y in 0..<size.height {
                    try cancellation.check()
                    for x in 0..<size.width {
                        lumas[2 * x] = left.luma(y * size.width + x)
                        lumas[2 * x + 1] = right.luma(y * size.width + x)
                    }
                    sum(lumas, into: rows, at: y % down.count * columns * Self.sums)
                    if y >= down.count - 1 { total += similarity(of: rows, endingWith: y) }
                }
            }
        }
        return total / Double(columns * (size.height - down.count + 1))
    }

    /// Sums a row of lumas horizontally, window by window.
    private func sum(
        _ lumas: UnsafeMutableBufferPointer<Double>, into rows: UnsafeMutableBufferPointer<Double>, at start: Int
    ) {
        for x in 0..<columns {
            var (left, right, leftSquare, rightSquare, product) = (0.0, 0.0, 0.0, 0.0, 0.0)
            for index in 0..<across.count {
                let (weight, a, b) = (across[index], lumas[2 * (x + index)], lumas[2 * (x + index) + 1])
                left += weight * a
                right += weight * b
                leftSquare += weight * a * a
                rightSquare += weight * b * b
                product += weight * a * b
            }
            let place = start + x * Self.sums
            (rows[place], rows[place + 1], rows[place + 2]) = (left, right, leftSquare)
            (rows[place + 3], rows[place + 4]) = (rightSquare, product)
        }
    }

    /// Returns the summed similarities of a row of windows.
    private func similarity(of rows: UnsafeMutableBufferPointer<Double>, endingWith y: Int) -> Double {
        let (c1, c2) = (2.55 * 2.55, 7.65 * 7.65)
        var total = 0.0
        for x in 0..<columns {
            var (left, right, leftSquare, rightSquare, product) = (0.0, 0.0, 0.0, 0.0, 0.0)
            for index in 0..<down.count {
                let row = (y + 1 + index) % down.count
                let (weight, place) = (down[index], (row * columns + x) * Self.sums)
                left += weight * rows[place]
                right += weight * rows[place + 1]
                leftSquare += weight * rows[place + 2]
                rightSquare += weight * rows[place + 3]
                product += weight * rows[place + 4]
            }
            let (variances, covariance) = (
                leftSquare - left * left + rightSquare - right * right, product - left * right
            )
            total +=
                (2 * left * right + c1) * (2 * covariance + c2)
                / ((left * left + right * right + c1) * (variances + c2))
        }
        return total
    }
}
