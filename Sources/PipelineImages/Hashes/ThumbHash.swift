import LibC
public import Pipeline

extension DecodedImage {
    /// Returns the picture's ThumbHash: up to 25 bytes from which a blurred placeholder can be drawn, with aspect ratio
    /// and transparency (the format of evanw.github.io/thumbhash). It is usually sent as base64.
    ///
    /// The hash is calculated from the first frame, reduced to fit 100×100 pixels.
    /// - Throws: `LoadError.Code.unsupportedLayout` unless the pixels are 8-bit sRGB; `CancellationError`.
    public func thumbHash() async throws -> [UInt8] {
        try await BlockingThreads.decoding.run { cancellation in
            let image = try reduced(to: 100, cancellation).withAlpha(cancellation)
            return try image.withPixels { ThumbHash($0, image.size).bytes }
        }
    }
}

/// The cosines of a picture's lightness, of its two colour differences, and of its alpha.
private struct ThumbHash {
    private let size: PixelSize
    private let isTransparent: Bool
    /// The numbers of lightness cosines across and down.
    private let across, down: Int
    private let lightness, yellowBlue, redGreen: Cosines
    private let alpha: Cosines

    init(_ pixels: UnsafeBufferPointer<UInt8>, _ size: PixelSize) {
        self.size = size
        let count = size.width * size.height
        var mean = SIMD3<Double>()
        var coverage = 0.0
        for pixel in 0..<count {
            let alpha = Double(pixels[4 * pixel + 3]) / 255
            mean += Self.color(pixels, pixel) * alpha
            coverage += alpha
        }
        if coverage > 0 { mean /= coverage }
        isTransparent = coverage < Double(count)
        var planes = [[Double]](repeating: [], count: 4)
        for pixel in 0..<count {
            let alpha = Double(pixels[4 * pixel + 3]) / 255
            // Transparent parts get the mean colour.
            let color = mean * (1 - alpha) + Self.color(pixels, pixel) * alpha
            planes[0].append((color.x + color.y + color.z) / 3)
            planes[1].append((color.x + color.y) / 2 - color.z)
            planes[2].append(color.x - color.y)
            planes[3].append(alpha)
        }
        let (most, longest) = (isTransparent ? 5.0 : 7.0, Double(max(size.width, size.height)))
        across = max(1, Int((most * Double(size.width) / longest).rounded()))
        down = max(1, Int((most * Double(size.height) / longest).rounded()))
        lightness = Cosines(planes[0], size, max(3, across), max(3, down))
        yellowBlue = Cosines(planes[1], size, 3, 3)
        redGreen = Cosines(planes[2], size, 3, 3)
        alpha = Cosines(planes[3], size, 5, 5)
    }

    private static func color(_ pixels: UnsafeBufferPointer<UInt8>, _ pixel: Int) -> SIMD3<Double> {
        SIMD3(Double(pixels[4 * pixel]), Double(pixels[4 * pixel + 1]), Double(pixels[4 * pixel + 2])) / 255
    }

    /// The means and scales in 5 bytes, or 6 with alpha, then each cosine in half a byte.
    var bytes: [UInt8] {
        let isLandscape = size.width > size.height
        let first =
            Self.level(lightness.mean, 63) | Self.level(0.5 + yellowBlue.mean / 2, 63) << 6
            | Self.level(0.5 + redGreen.mean / 2, 63) << 12 | Self.level(lightness.scale, 31) << 18
            | (isTransparent ? 1 << 23 : 0)
        let second =
            (isLandscape ? down : across) | Self.level(yellowBlue.scale, 63) << 3 | Self.level(redGreen.scale, 63) << 9
            | (isLandscape ? 1 << 15 : 0)
        var bytes = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8(truncatingIfNeeded: $0) }
        var channels = [lightness, yellowBlue, redGreen]
        if isTransparent {
            bytes.append(UInt8(Self.level(alpha.mean, 15) | Self.level(alpha.scale, 15) << 4))
            channels.append(alpha)
        }
        let halves = channels.flatMap(\.parts).map { UInt8(Self.level($0, 15)) }
        for index in stride(from: 0, to: halves.count, by: 2) {
            bytes.append(halves[index] | (index + 1 < halves.count ? halves[index + 1] << 4 : 0))
        }
        return bytes
    }

    private static func level(_ value: Double, _ highest: Double) -> Int {
        Int(min(highest, max(0, (value * highest).rounded())))
    }
}

/// The lowest frequencies of a plane (the triangle of a discrete cosine transform).
private struct Cosines {
    private(set) var mean = 0.0
    /// The amplitude of the strongest other frequency.
    let scale: Double
    /// The other frequencies relative to the strongest, from 0 to 1.
    let parts: [Double]

    private static func wave(_ frequency: Int, _ length: Int) -> [Double] {
        let step = Double.pi / Double(length) * Double(frequency)
        return (0..<length).map { place -> Double in cos(step * (Double(place) + 0.5)) }
    }

    init(_ plane: [Double], _ size: PixelSize, _ across: Int, _ down: Int) {
        var others: [Double] = []
        for row in 0..<down {
            let rowWave = Self.wave(row, size.height)
            for column in 0..<across where column * down < across * (down - row) {
                let wave = Self.wave(column, size.width)
                var sum = 0.0
                for y in 0..<size.height {
                    for x in 0..<size.width { sum += plane[y * size.width + x] * wave[x] * rowWave[y] }
                }
                sum /= Double(size.width * size.height)
                if row + column == 0 { mean = sum } else { others.append(sum) }
            }
        }
        let scale = others.map(abs).max() ?? 0
        self.scale = scale
        parts = scale > 0 ? others.map { 0.5 + 0.5 / scale * $0 } : others
    }
}
