public import Pipeline

/// Cuts off edges that have the colour of the top left pixel. A picture of only that colour is unchanged.
///
/// An animation loses only what all its frames can spare.
///
/// - Throws: `CancellationError`.
public struct Trim: SpecifiedTransform {
    private let tolerance: Int

    package static let specification = StageSpecification(
        "trim", "Cuts off a border of one colour.",
        .optional(
            "tolerance", .integer(0...255), "How far the border's colours may differ.", default: 10, example: "20"),
        make: Trim.init)

    /// Makes the transform.
    /// - Parameter tolerance: How far a channel may differ from the colour, from 0 to 255; 10 by default.
    public init(tolerance: Int = 10) {
        self.tolerance = min(255, max(0, tolerance))
    }

    public var parameters: String { "\(tolerance)" }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        var (left, right, top, bottom) = (image.width, -1, image.height, -1)
        let edge = try image.withPixels { Array($0.prefix(image.layout.channelCount)) }
        for frame in image.frames.indices {
            try image.withPixels(ofFrame: frame) { pixels in
                for y in 0..<image.height {
                    if y % 64 == 0 { try cancellation.check() }
                    let row = y * image.width
                    guard let first = (0..<image.width).first(where: { differs(pixels, row + $0, edge) }) else {
                        continue
                    }
                    (top, bottom) = (min(top, y), y > bottom ? y : bottom)
                    left = min(left, first)
                    // Only pixels to the right of the rightmost one so far matter.
                    if let last = (right + 1..<image.width).last(where: { differs(pixels, row + $0, edge) }) {
                        right = last
                    }
                }
            }
        }
        guard right >= left, bottom >= top else { return image }
        return try Crop(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
            .transformed(image, cancellation)
    }

    private func differs(_ pixels: UnsafeBufferPointer<UInt8>, _ index: Int, _ color: [UInt8]) -> Bool {
        let start = index * color.count
        // Fully transparent pixels are equal, whatever their colours.
        if color.count == 4, pixels[start + 3] == 0, color[3] == 0 { return false }
        for channel in color.indices where abs(Int(pixels[start + channel]) - Int(color[channel])) > tolerance {
            return true
        }
        return false
    }
}
