import Pipeline

extension ImageComparison {
    /// Draws where two pictures of one size differ: the left one in faded grey, and red over it, the stronger the more a
    /// pixel differs. The least difference can be seen. Transparent pixels lie over white.
    /// - Throws: `LoadError.Code.unsupportedLayout` unless the pixels are 8-bit sRGB; `CancellationError`.
    package static func picture(of left: DecodedImage, _ right: DecodedImage) async throws -> DecodedImage {
        try await BlockingThreads.decoding.run { cancellation in
            let one = try left.still.opaque(over: .white, cancellation)
            let other = try right.still.opaque(over: .white, cancellation)
            var pixels = [UInt8](repeating: 0, count: one.size.width * one.size.height * 3)
            try one.withPixels { one in
                try other.withPixels { other in
                    for start in stride(from: 0, to: min(pixels.count, one.count, other.count), by: 3) {
                        if start % (3 << 16) == 0 { try cancellation.check() }
                        let most =
                            (start..<start + 3).map { place -> Int in abs(Int(one[place]) - Int(other[place])) }
                            .max() ?? 0
                        let (red, green, blue) = (Int(one[start]), Int(one[start + 1]), Int(one[start + 2]))
                        let luma: Int = (red * 54 + green * 183 + blue * 19) >> 8
                        let gray = 191 + luma / 4
                        // A third of red at least.
                        let share = most == 0 ? 0 : 85 + most * 2 / 3
                        pixels[start] = UInt8(gray + (255 - gray) * share / 255)
                        for channel in 1...2 { pixels[start + channel] = UInt8(gray - gray * share / 255) }
                    }
                }
            }
            return DecodedImage(size: left.size, layout: .rgb, pixels: pixels)
        }
    }
}
