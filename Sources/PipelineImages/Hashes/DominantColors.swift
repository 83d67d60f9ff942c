import CImages
public import Pipeline

/// A colour that represents many pixels of a picture.
public struct DominantColor: Sendable, Hashable {
    /// The mean colour of those pixels.
    public let color: Color
    /// Their share of all opaque pixels, from 0 to 1.
    public let share: Double
}

extension DecodedImage {
    /// Returns the colours that represent most of the picture, the most frequent first.
    ///
    /// They are the centres of a k-means search over the first frame, reduced to fit 256×256 pixels. Pixels that are
    /// more transparent than opaque don't count.
    /// - Parameter most: The most colours to return, 1 to 256; 5 by default. A picture may have fewer.
    /// - Throws: `LoadError.Code.unsupportedLayout` unless the pixels are 8-bit sRGB; `CancellationError`.
    /// - Precondition: The number is in its range.
    public func dominantColors(_ most: Int = 5) async throws -> [DominantColor] {
        precondition(1...256 ~= most, "A picture has 1 to 256 dominant colours.")
        return try await BlockingThreads.decoding.run { cancellation in
            let image = try reduced(to: 256, cancellation)
            // Pixels that are at least half opaque count.
            let format = cpalette_format(channels: Int32(image.layout.channelCount), threshold: 128)
            return try image.withPixels { pixels in
                let histogram = try ColorHistogram(format: format, effort: 10)
                try histogram.add(pixels, cancellation)
                guard !histogram.isEmpty else { return [] }
                let palette = try Palette(
                    of: histogram, most: most, beginsClear: false, effort: 10, cancellation)
                return palette.shares(of: pixels, channels: image.layout.channelCount)
            }
        }
    }

    /// The first frame, reduced to fit a square.
    func reduced(to side: Int, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try Resize(PixelSize(width: side, height: side)).transformed(still, cancellation)
    }
}

extension Palette {
    /// Its colours, sorted by how many pixels are nearest to each.
    fileprivate func shares(of pixels: UnsafeBufferPointer<UInt8>, channels: Int) -> [DominantColor] {
        let centers = (0..<count).map { SIMD3<Int>(channels: colors[4 * $0..<4 * $0 + 3]) }
        var counts = [Int](repeating: 0, count: count)
        for start in stride(from: 0, to: pixels.count, by: channels) where channels < 4 || pixels[start + 3] >= 128 {
            let color = SIMD3<Int>(channels: (0..<3).map { pixels[start + min($0, channels - 1)] })
            let distances = centers.map { center in
                let difference = center &- color
                return (difference &* difference).wrappedSum()
            }
            if let nearest = distances.indices.min(by: { distances[$0] < distances[$1] }) { counts[nearest] += 1 }
        }
        let total = max(1, counts.reduce(0, +))
        return zip(centers, counts).filter { $1 > 0 }.sorted { $0.1 > $1.1 }.map { center, count in
            let color = Color(red: UInt8(center.x), green: UInt8(center.y), blue: UInt8(center.z))
            return DominantColor(color: color, share: Double(count) / Double(total))
        }
    }
}

extension SIMD3<Int> {
    fileprivate init(channels: some Collection<UInt8>) { self.init(channels.map { Int($0) }) }
}
