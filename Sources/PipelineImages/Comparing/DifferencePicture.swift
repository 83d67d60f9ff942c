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
                        let most = (0..<3).map { abs(Int(one[start + $0]) - Int(other[start + $0])) }.max() ?? 0
                        let luma = (Int(one[start]) * 54 + Int(one[start + 1]) * 183 + Int(one[start + 2]) * 19) >> 8
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
