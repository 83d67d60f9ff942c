import LibC
import Pipeline

/// Maps how interesting each part of a picture is, all frames taken together.
///
/// The parts are squares, at most 64 × 64 in all, and each is sampled. So a large picture takes no longer.
struct InterestMap {
    /// The side of a part, in pixels.
    private let side: Int
    private let columns: Int
    private let rows: Int
    /// For each corner, the summed interest of all parts above and to the left of it.
    private var sums: [Double]

    init(of image: DecodedImage, by interest: Interest, _ cancellation: WorkCancellation) throws {
        side = max(8, (max(image.width, image.height) + 63) / 64)
        columns = (image.width + side - 1) / side
        rows = (image.height + side - 1) / side
        sums = [Double](repeating: 0, count: (columns + 1) * (rows + 1))
        var values = [Double](repeating: 0, count: columns * rows)
        for frame in image.frames.indices {
            try image.withPixels(ofFrame: frame) { pixels in
                let samples = InterestSamples(
                    pixels: pixels, size: image.size, channels: image.layout.channelCount)
                for row in 0..<rows {
                    try cancellation.check()
                    for column in 0..<columns {
                        values[row * columns + column] += samples.interest(
                            x: column * side, y: row * side, side: side, interest)
                    }
                }
            }
        }
        for row in 0..<rows {
            var sum = 0.0
            for column in 0..<columns {
                sum += values[row * columns + column]
                sums[(row + 1) * (columns + 1) + column + 1] = sums[row * (columns + 1) + column + 1] + sum
            }
        }
    }

    /// Returns the place where a rectangle of `size` contains the most interest; of several such places the one nearest
    /// to the middle. The rectangle is no larger than the picture's `area`.
    func best(_ size: PixelSize, in area: PixelSize) -> (x: Int, y: Int) {
        let (across, down) = (area.width - size.width, area.height - size.height)
        var best = (x: across / 2, y: down / 2)
        var most = interest(x: best.x, y: best.y, size)
        var least = 0.0
        for y in places(upTo: down) {
            for x in places(upTo: across) {
                let found = interest(x: x, y: y, size)
                let distance = hypot(Double(x) - Double(across) / 2, Double(y) - Double(down) / 2)
                // Sums that differ only by rounding count as equal, so that the middle wins.
                let tolerance = 1e-9 * abs(most)
                guard found > most + tolerance || (found >= most - tolerance && distance < least) else { continue }
                (best, most, least) = ((x, y), found, distance)
            }
        }
        return best
    }

    private func places(upTo last: Int) -> [Int] { Array(stride(from: 0, to: last, by: max(1, side / 4))) + [last] }

    /// The interest within a rectangle, whose edges may cut through parts.
    private func interest(x: Int, y: Int, _ size: PixelSize) -> Double {
        sum(x + size.width, y + size.height) - sum(x, y + size.height) - sum(x + size.width, y) + sum(x, y)
    }

    /// The interest to the left of and above a point, interpolated between corners.
    private func sum(_ x: Int, _ y: Int) -> Double {
        let (column, row) = (min(columns - 1, x / side), min(rows - 1, y / side))
        let across = min(1, Double(x - column * side) / Double(side))
        let down = min(1, Double(y - row * side) / Double(side))
        let corner = row * (columns + 1) + column
        let upper = sums[corner] * (1 - across) + sums[corner + 1] * across
        let lower = sums[corner + columns + 1] * (1 - across) + sums[corner + columns + 2] * across
        return upper * (1 - down) + lower * down
    }
}
