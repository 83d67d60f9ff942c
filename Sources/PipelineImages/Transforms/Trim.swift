public import Pipeline

/// Cuts off edges of one colour: that of the left upper pixel. A picture that is nothing but that colour stays as it is.
///
/// What is cut off an animation is what all its frames can spare.
///
/// - Throws: `CancellationError`.
public struct Trim: PixelTransform {
    private let tolerance: Int

    /// Trims.
    /// - Parameter tolerance: how far a channel may be from the colour and still count as it, 0 to 255; 10 by default.
    public init(tolerance: Int = 10) {
        self.tolerance = min(255, max(0, tolerance))
    }

    /// The tolerance.
    public var signature: String? { "trim(\(parameters))" }

    /// The tolerance.
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
                    // Only what lies behind the rightmost pixel so far can move it.
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

    private func differs(_ pixels: UnsafeBufferPointer<UInt8>, _ index: Int, _ colour: [UInt8]) -> Bool {
        let start = index * colour.count
        // Two transparent pixels are alike, whatever their colours.
        if colour.count == 4, pixels[start + 3] == 0, colour[3] == 0 { return false }
        for channel in colour.indices where abs(Int(pixels[start + channel]) - Int(colour[channel])) > tolerance {
            return true
        }
        return false
    }
}
