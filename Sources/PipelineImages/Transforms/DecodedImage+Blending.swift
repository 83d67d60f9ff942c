package import Pipeline

extension DecodedImage {
    /// Returns the picture with another over it, once or repeated. Pixels of 8 bits are mixed by their levels, as browsers do,
    /// and those of 16 bits by their light. The gain map has no gain under the other picture.
    /// - Parameters:
    ///   - top: The picture on top, in sRGB; its first frame is used.
    ///   - space: The colour space of this picture's numbers.
    ///   - place: Where its top left corner lies.
    ///   - step: How far apart the repeats are that cover this picture; `nil` for one.
    ///   - opacity: What the alpha of the picture on top is multiplied by, from 0 to 1.
    /// - Throws: `CancellationError`; ``Pipeline/LoadError/Code/unsupportedLayout``.
    package func covered(
        by top: DecodedImage, in space: PixelLayout.ColorSpace = .sRGB, at place: (x: Int, y: Int),
        repeatedAt step: (x: Int, y: Int)? = nil, opacity: Double, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let image = try top.layout == .gray ? self : withColor(cancellation)
        let top = try top.withAlpha(cancellation)
        let xs = Self.starts(at: place.x, every: step?.x, within: image.width)
        let ys = Self.starts(at: place.y, every: step?.y, within: image.height)
        let light = layout.isDeep ? LightLevels(space, isDeep: true) : nil
        let numbers = light == nil ? try top.numbers(in: space, cancellation) : top
        var covered = try image.mapFrames(isOfAnyDepth: true, cancellation) { pixels in
            var result = try pixels.copied(cancellation)
            try result.withUnsafeMutableBytes { result in
                try numbers.withPixels { over in
                    for y in ys {
                        for x in xs {
                            let cover = Cover(pixels: over, size: top.size, x: x, y: y, opacity: opacity)
                            try image.lay(cover, light, into: result, cancellation)
                        }
                    }
                }
            }
            return result
        }
        covered.gainMap = try gainMap?.covered(
            by: coverage(of: top, xs, ys, opacity, cancellation), of: size, cancellation)
        return covered
    }

    /// A picture with alpha at a place of another.
    private struct Cover {
        let pixels: UnsafeBufferPointer<UInt8>
        let size: PixelSize
        let x, y: Int
        let opacity: Double

        /// Does something with each pixel that lies within a picture.
        /// - Parameter body: Gets the places of the pixel's first sample here and of the pixel in the other picture.
        func forEach(
            within whole: PixelSize, _ cancellation: WorkCancellation, _ body: (_ from: Int, _ to: Int) -> Void
        ) throws {
            for row in max(0, y)..<max(max(0, y), min(whole.height, y + size.height)) {
                if row % 64 == 0 { try cancellation.check() }
                for column in max(0, x)..<max(max(0, x), min(whole.width, x + size.width)) {
                    body(((row - y) * size.width + column - x) * 4, row * whole.width + column)
                }
            }
        }

        /// The alpha of a pixel, from 0 to 255.
        func alpha(_ from: Int) -> Int { Int((Double(pixels[from + 3]) * opacity).rounded()) }
    }

    /// Lays RGBA pixels over those of this picture, as far as they lie within it.
    private func lay(
        _ cover: Cover, _ light: LightLevels?, into result: UnsafeMutableRawBufferPointer,
        _ cancellation: WorkCancellation
    ) throws {
        let channels = layout.channelCount
        if let light {
            let samples = result.bindMemory(to: UInt16.self)
            return try cover.forEach(within: size, cancellation) {
                Self.mix(cover, $0, light, samples, $1 * channels, channels)
            }
        }
        let samples = result.bindMemory(to: UInt8.self)
        try cover.forEach(within: size, cancellation) { Self.blend(cover, $0, samples, $1 * channels, channels) }
    }

    /// How much of each pixel is covered, from 0 to 255.
    private func coverage(
        of top: DecodedImage, _ xs: [Int], _ ys: [Int], _ opacity: Double, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var coverage = [UInt8](repeating: 0, count: size.bytes(1))
        try top.withPixels { over in
            for y in ys {
                for x in xs {
                    let cover = Cover(pixels: over, size: top.size, x: x, y: y, opacity: opacity)
                    try cover.forEach(within: size, cancellation) { from, to in
                        let free = (255 - Int(coverage[to])) * (255 - cover.alpha(from))
                        coverage[to] = UInt8(255 - (free + 127) / 255)
                    }
                }
            }
        }
        return coverage
    }

    /// Where repeats begin that cover a length, if one begins at `first`.
    private static func starts(at first: Int, every step: Int?, within length: Int) -> [Int] {
        guard let step, step > 0 else { return [first] }
        let remainder = first % step
        return Array(stride(from: remainder > 0 ? remainder - step : remainder, to: length, by: step))
    }

    /// Blends one pixel over another with straight alpha (Porter and Duff's "over").
    private static func blend(
        _ cover: Cover, _ from: Int, _ under: UnsafeMutableBufferPointer<UInt8>, _ to: Int, _ channels: Int
    ) {
        let (over, alpha) = (cover.pixels, cover.alpha(from))
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

    /// Likewise in linear light, from sRGB of 8 bits to the colours and 16 bits of the pixel below.
    private static func mix(
        _ cover: Cover, _ from: Int, _ light: LightLevels, _ under: UnsafeMutableBufferPointer<UInt16>, _ to: Int,
        _ channels: Int
    ) {
        let (over, alpha) = (cover.pixels, Double(cover.alpha(from)) / 255)
        let weightUnder = (channels == 4 ? Double(under[to + 3]) / 65535 : 1) * (1 - alpha)
        guard alpha > 0 else { return }
        let color = light.light(ofSRGB: SIMD3(over[from], over[from + 1], over[from + 2]))
        for channel in 0..<min(3, channels) {
            let mixed = color[channel] * alpha + light[Int(under[to + channel])] * weightUnder
            under[to + channel] = UInt16(light.level(mixed / (alpha + weightUnder)))
        }
        if channels == 4 { under[to + 3] = UInt16((65535 * (alpha + weightUnder)).rounded()) }
    }

    /// The picture's sRGB in the numbers of another space, in 8 bits.
    private func numbers(in space: PixelLayout.ColorSpace, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard space != .sRGB else { return self }
        let levels = LightLevels(space, isDeep: false)
        return try mapPixels(cancellation) { old, new, pixels in
            for start in pixels.lazy.map({ 4 * $0 }) {
                let light = levels.light(ofSRGB: SIMD3(old[start], old[start + 1], old[start + 2]))
                for channel in 0..<3 { new[start + channel] = UInt8(levels.level(light[channel])) }
                new[start + 3] = old[start + 3]
            }
        }
    }
}
