import Pipeline

/// The waves that a ThumbHash's bytes describe: lightness, two colour differences, and alpha.
struct ThumbHashBytes {
    private let waves: PlaceholderWaves
    private let isTransparent: Bool
    /// The longer side has 32 pixels.
    private let standardSize: PixelSize

    /// - Throws: `undecodable` for too few or too many bytes, and for numbers out of range.
    init(_ bytes: [UInt8]) throws(LoadError) {
        guard bytes.count >= 5 else { throw Self.damaged("it has \(bytes.count) bytes, and needs 5 at least") }
        let first = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        let second = Int(bytes[3]) | Int(bytes[4]) << 8
        isTransparent = first >> 23 == 1
        let (longest, shortest) = (isTransparent ? 5 : 7, second & 7)
        guard (1...longest).contains(shortest) else { throw Self.damaged("its aspect ratio is out of range") }
        let isLandscape = second >> 15 == 1
        let (across, down) = isLandscape ? (longest, shortest) : (shortest, longest)
        let short = max(1, Int((32 * Double(shortest) / Double(longest)).rounded()))
        standardSize = isLandscape ? PixelSize(width: 32, height: short) : PixelSize(width: short, height: 32)

        func level(_ number: Int, _ bits: Int) -> Double { Double(number & (1 << bits - 1)) / Double(1 << bits - 1) }
        var channels: [(unit: SIMD4<Double>, across: Int, down: Int, scale: Double)] = [
            (SIMD4(1, 0, 0, 0), max(3, across), max(3, down), level(first >> 18, 5)),
            // The encoder's levels saturate, so that decoders raise the colours.
            (SIMD4(0, 1, 0, 0), 3, 3, level(second >> 3, 6) * 1.25),
            (SIMD4(0, 0, 1, 0), 3, 3, level(second >> 9, 6) * 1.25),
        ]
        var mean = SIMD4(level(first, 6), level(first >> 6, 6) * 2 - 1, level(first >> 12, 6) * 2 - 1, 1)
        var start = 5
        if isTransparent {
            guard bytes.count > 5 else { throw Self.damaged("the byte of its transparency is missing") }
            mean.w = level(Int(bytes[5]), 4)
            channels.append((SIMD4(0, 0, 0, 1), 5, 5, level(Int(bytes[5]) >> 4, 4)))
            start = 6
        }
        var waves: [PlaceholderWaves.Wave] = [(0, 0, mean)]
        var isCutOff = false
        var position = 2 * start
        for channel in channels {
            for row in 0..<channel.down {
                for column in 0..<channel.across where column * channel.down < channel.across * (channel.down - row) {
                    guard row + column > 0 else { continue }
                    guard position / 2 < bytes.count else {
                        isCutOff = true
                        position += 1
                        continue
                    }
                    let half = level(Int(bytes[position / 2]) >> (position % 2 * 4), 4) * 2 - 1
                    // The format's own factor for every wave but the mean.
                    waves.append((column, row, channel.unit * (half * channel.scale * 2)))
                    position += 1
                }
            }
        }
        guard !isCutOff, bytes.count == (position + 1) / 2 else {
            throw Self.damaged("its waves take \((position + 1) / 2) bytes, and it has \(bytes.count)")
        }
        self.waves = PlaceholderWaves(waves, offset: 0.5)
    }

    /// Draws the placeholder; each side of `size` is at least 1.
    func image(of size: PixelSize?) throws(LoadError) -> DecodedImage {
        let size = size ?? standardSize
        var pixels: [UInt8] = []
        pixels.reserveCapacity(4 * size.width * size.height)
        waves.forEachPixel(of: size) { wave in
            let blue = wave.x - wave.y * 2 / 3
            let red = (3 * wave.x - blue + wave.z) / 2
            for value in isTransparent ? [red, red - wave.z, blue, wave.w] : [red, red - wave.z, blue] {
                pixels.append(UInt8((min(1, max(0, value)) * 255).rounded()))
            }
        }
        return try DecodedImage(validating: pixels, size: size, layout: isTransparent ? .rgba : .rgb)
    }

    private static func damaged(_ reason: String) -> LoadError { PlaceholderWaves.damaged("ThumbHash", reason) }
}
