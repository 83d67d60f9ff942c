import LibC
import Pipeline

/// Measures how interesting parts of a frame are, from samples of its pixels.
struct InterestSamples {
    let pixels: UnsafeBufferPointer<UInt8>
    let size: PixelSize
    let channels: Int

    /// Returns how interesting a square is, clipped to the picture.
    func interest(x: Int, y: Int, side: Int, _ interest: Interest) -> Double {
        let step = max(1, side / 8)
        let columns = stride(from: x, to: min(size.width, x + side), by: step)
        let rows = stride(from: y, to: min(size.height, y + side), by: step)
        switch interest {
        case .entropy: return entropy(columns, rows)
        case .attention:
            var sum = 0.0
            for row in rows { for column in columns { sum += attention(column, row) } }
            return sum
        }
    }

    /// The entropy of 16 levels of brightness, in bits, times the number of samples.
    private func entropy(_ columns: StrideTo<Int>, _ rows: StrideTo<Int>) -> Double {
        var counts = [Int](repeating: 0, count: 16)
        var all = 0
        for row in rows {
            for column in columns {
                let (red, green, blue, alpha) = color(column, row)
                // All transparent pixels count as the same.
                counts[Int(alpha * luma(red, green, blue) * 15.999)] += 1
                all += 1
            }
        }
        return counts.reduce(0) { sum, count in
            count == 0 ? sum : sum - Double(count) * log2(Double(count) / Double(all))
        }
    }

    private func attention(_ x: Int, _ y: Int) -> Double {
        let (red, green, blue, alpha) = color(x, y)
        let light = luma(red, green, blue)
        let around = (brightness(x - 1, y) + brightness(x + 1, y) + brightness(x, y - 1) + brightness(x, y + 1)) / 4
        let edge = abs(light - around)
        let saturation = max(red, green, blue) - min(red, green, blue)
        // Skin, light or dark, has a direction in the colour cube. Very dark and very light pixels aren't skin.
        let length = (red * red + green * green + blue * blue).squareRoot()
        let towardsSkin = length > 0 ? (0.78 * red + 0.51 * green + 0.36 * blue) / length : 0
        let skin = light > 0.15 && light < 0.95 ? max(0, towardsSkin - 0.97) / 0.03 : 0
        return alpha * (4 * edge + 0.15 * saturation * light + 0.2 * skin * saturation)
    }

    private func brightness(_ x: Int, _ y: Int) -> Double {
        let (red, green, blue, _) = color(min(size.width - 1, max(0, x)), min(size.height - 1, max(0, y)))
        return luma(red, green, blue)
    }

    private func luma(_ red: Double, _ green: Double, _ blue: Double) -> Double {
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// A pixel's channels, from 0 to 1.
    private func color(_ x: Int, _ y: Int) -> (red: Double, green: Double, blue: Double, alpha: Double) {
        let start = (y * size.width + x) * channels
        let red = Double(pixels[start]) / 255
        guard channels > 1 else { return (red, red, red, 1) }
        return (
            red, Double(pixels[start + 1]) / 255, Double(pixels[start + 2]) / 255,
            channels == 4 ? Double(pixels[start + 3]) / 255 : 1
        )
    }
}
