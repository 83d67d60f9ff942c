import LibC
public import Pipeline

/// Rounds the corners. Pixels outside them become transparent.
///
/// - Throws: `CancellationError`.
public struct RoundCorners: SpecifiedTransform, ColorKeeping {
    private let radius: Double

    package static let specification = StageSpecification(
        "roundCorners", "Makes the corners round and transparent.",
        .required("radius", .number(0...1_000_000), "The radius in pixels.", example: "24"), make: RoundCorners.init)

    /// Rounds all four corners.
    /// - Parameter radius: The radius in pixels; a larger one than half the shorter side counts as that half.
    public init(radius: Double) {
        self.radius = radius.isNaN ? 0 : max(0, radius)
    }

    public var parameters: String { "\(radius)" }

    public var keepsColors: Bool { true }

    public var keepsDepth: Bool { true }

    public var keepsHDR: Bool { true }

    public var keepsGainMap: Bool { true }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let radius = min(radius, Double(min(image.width, image.height)) / 2)
        guard radius > 0 else { return image }
        let side = Int(radius.rounded(.up))
        let coverage = try coverage(radius: radius, side: side, cancellation)
        var rounded = try image.withAlpha(cancellation).mapFrames(isOfAnyDepth: true, cancellation) { pixels in
            var result = try pixels.copied(cancellation)
            try result.withUnsafeMutableBytes { bytes in
                if image.layout.isDeep {
                    try round(bytes.bindMemory(to: UInt16.self), of: image.size, coverage, side, cancellation)
                } else {
                    try round(bytes.bindMemory(to: UInt8.self), of: image.size, coverage, side, cancellation)
                }
            }
            return result
        }
        rounded.gainMap = image.gainMap
        return rounded
    }

    private func round<Sample: FixedWidthInteger>(
        _ pixels: UnsafeMutableBufferPointer<Sample>, of size: PixelSize, _ coverage: [Int], _ side: Int,
        _ cancellation: WorkCancellation
    ) throws {
        for y in 0..<side {
            try cancellation.check()
            for x in 0..<side {
                let cover = coverage[y * side + x]
                // Two corners may share the middle row or column of a picture of odd size.
                let columns = x == size.width - 1 - x ? [x] : [x, size.width - 1 - x]
                let rows = y == size.height - 1 - y ? [y] : [y, size.height - 1 - y]
                for row in rows {
                    for column in columns {
                        let index = (row * size.width + column) * 4 + 3
                        pixels[index] = Sample((Int(pixels[index]) * cover + 127) / 255)
                    }
                }
            }
        }
    }

    /// How much of each pixel of the top left corner lies within the circle, from 0 to 255, sampled at 8 × 8 points.
    private func coverage(radius: Double, side: Int, _ cancellation: WorkCancellation) throws -> [Int] {
        try (0..<side * side).map { index -> Int in
            if index % side == 0 { try cancellation.check() }
            let (x, y) = (radius - Double(index % side), radius - Double(index / side))
            // Pixels that lie entirely inside or outside need no samples.
            if hypot(x, y) <= radius { return 255 }
            if hypot(max(0, x - 1), max(0, y - 1)) >= radius { return 0 }
            var inside = 0
            for point in 0..<64 {
                let across = x - (Double(point % 8) + 0.5) / 8
                let down = y - (Double(point / 8) + 0.5) / 8
                if hypot(across, down) <= radius { inside += 1 }
            }
            return (inside * 255 + 32) / 64
        }
    }
}
