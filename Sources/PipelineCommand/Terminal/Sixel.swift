import Pipeline

/// Writes an image as DEC's sixel graphics: bands of six rows, with a run of characters for every colour.
enum Sixel {
    /// - Parameter pixels: RGBA, straight, of at most 256 opaque colours. Pixels that are less than half opaque are
    ///   left out.
    static func text(_ pixels: [UInt8], _ size: PixelSize) -> String {
        var numbers: [UInt32: Int] = [:]
        var text = "\u{1B}P0;1q\"1;1;\(size.width);\(size.height)"
        var indices = [Int](repeating: -1, count: size.width * size.height)
        for index in indices.indices where pixels[index * 4 + 3] >= 128 {
            let (red, green, blue) = (pixels[index * 4], pixels[index * 4 + 1], pixels[index * 4 + 2])
            let color = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
            if let number = numbers[color] {
                indices[index] = number
            } else {
                indices[index] = numbers.count
                // Percentages.
                let parts = [red, green, blue].map { "\((Int($0) * 100 + 127) / 255)" }.joined(separator: ";")
                text += "#\(numbers.count);2;\(parts)"
                numbers[color] = numbers.count
            }
        }
        for top in stride(from: 0, to: size.height, by: 6) {
            var rows: [Int: [UInt8]] = [:]
            for y in top..<min(top + 6, size.height) {
                for x in 0..<size.width where indices[y * size.width + x] >= 0 {
                    rows[indices[y * size.width + x], default: [UInt8](repeating: 0, count: size.width)][x] |=
                        1 << UInt8(y - top)
                }
            }
            text += rows.sorted { $0.key < $1.key }.map { "#\($0.key)\(runs($0.value))" }.joined(separator: "$") + "-"
        }
        return text + "\u{1B}\\"
    }

    /// A colour's bits of a band as characters, equal ones as a run. Bits after the last set one are left out.
    private static func runs(_ bits: [UInt8]) -> String {
        var text = ""
        var rest = bits[...(bits.lastIndex { $0 != 0 } ?? 0)]
        while let first = rest.first {
            let count = rest.prefix { $0 == first }.count
            let character = String(UnicodeScalar(63 + first))
            text += count > 3 ? "!\(count)\(character)" : String(repeating: character, count: count)
            rest = rest.dropFirst(count)
        }
        return text
    }
}
