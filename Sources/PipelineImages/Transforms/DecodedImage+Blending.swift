package import Pipeline

extension DecodedImage {
    /// Returns the picture with the first frame of another one over each of its frames.
    /// - Parameters:
    ///   - top: The picture on top.
    ///   - place: Where its top left corner lies, in pixels, which may be outside of this picture.
    ///   - step: The distance from one corner to that of its next repeat, to the right and down; `nil` for no repeats.
    ///   - opacity: The opacity, from 0 to 1.
    /// - Throws: `LoadError.Code.unsupportedLayout` unless the pixels of both are 8-bit sRGB; `CancellationError`.
    package func covered(
        by top: DecodedImage, at place: (x: Int, y: Int), repeatedAt step: (x: Int, y: Int)? = nil, opacity: Double,
        _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let image = try top.layout == .gray ? self : withColor(cancellation)
        let top = try top.withAlpha(cancellation)
        let xs = Self.starts(at: place.x, every: step?.x, within: image.width)
        let ys = Self.starts(at: place.y, every: step?.y, within: image.height)
        return try image.mapFrames(cancellation) { pixels in
            var result = try pixels.copied(cancellation)
            try result.withUnsafeMutableBufferPointer { result in
                try top.withPixels { over in
                    for y in ys {
                        for x in xs { try image.lay(over, top.size, at: x, y, opacity, into: result, cancellation) }
                    }
                }
            }
            return result
        }
    }

    /// Lays the RGBA pixels of a picture over those of this one, as far as they lie within it.
    private func lay(
        _ over: UnsafeBufferPointer<UInt8>, _ size: PixelSize, at x: Int, _ y: Int, _ opacity: Double,
        into result: UnsafeMutableBufferPointer<UInt8>, _ cancellation: WorkCancellation
    ) throws {
        let channels = layout.channelCount
        for row in max(0, y)..<max(max(0, y), min(height, y + size.height)) {
            if row % 64 == 0 { try cancellation.check() }
            for column in max(0, x)..<max(max(0, x), min(width, x + size.width)) {
                Self.blend(
                    over, ((row - y) * size.width + column - x) * 4, opacity, result,
                    (row * width + column) * channels, channels)
            }
        }
    }

    /// Where repeats begin that cover a length, if one begins at `first`.
    private static func starts(at first: Int, every step: Int?, within length: Int) -> [Int] {
        guard let step, step > 0 else { return [first] }
        let remainder = first % step
        return Array(stride(from: remainder > 0 ? remainder - step : remainder, to: length, by: step))
    }

    /// Blends one pixel over another with straight alpha (Porter and Duff's "over").
    private static func blend(
        _ over: UnsafeBufferPointer<UInt8>, _ from: Int, _ opacity: Double,
        _ under: UnsafeMutableBufferPointer<UInt8>, _ to: Int, _ channels: Int
    ) {
        let alpha = Int((Double(over[from + 3]) * opacity).rounded())
        let alphaUnder = channels == 4 ? Int(under[to + 3]) : 255
        // In units of 1/255².
        let weightUnder = alphaUnder * (255 - alpha)
        let sum = alpha * 255 + weightUnder
        guard alpha > 0, sum > 0 else { return }
        for channel in 0..<min(3, channels) {
            let mixed = Int(over[from + channel]) * alpha * 255 + Int(under[to + channel]) * weightUnder
            under[to + channel] = UInt8((mixed + sum / 2) / sum)
        }
        if channels == 4 { under[to + 3] = UInt8((sum + 127) / 255) }
    }
}
