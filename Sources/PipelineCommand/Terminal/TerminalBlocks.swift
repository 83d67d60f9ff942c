import Pipeline

/// Draws an image with half blocks: two pixels in each character, one above the other.
enum TerminalBlocks {
    /// - Parameters:
    ///   - pixels: RGBA, straight. Pixels that are less than half opaque show the terminal's own colour.
    ///   - isTrueColour: Whether the terminal shows 24-bit colours instead of 256.
    static func text(_ pixels: [UInt8], _ size: PixelSize, isTrueColor: Bool) -> String {
        func color(_ x: Int, _ y: Int) -> String? {
            let at = (y * size.width + x) * 4
            guard y < size.height, pixels[at + 3] >= 128 else { return nil }
            guard !isTrueColor else { return "2;\(pixels[at]);\(pixels[at + 1]);\(pixels[at + 2])" }
            let levels = (0..<3).map { (Int(pixels[at + $0]) * 5 + 127) / 255 }
            return "5;\(16 + 36 * levels[0] + 6 * levels[1] + levels[2])"
        }
        var text = ""
        for y in stride(from: 0, to: size.height, by: 2) {
            for x in 0..<size.width {
                let cell =
                    switch (color(x, y), color(x, y + 1)) {
                    case (let upper?, let lower?): "\u{1B}[38;\(upper)m\u{1B}[48;\(lower)m▀"
                    case (let upper?, nil): "\u{1B}[49m\u{1B}[38;\(upper)m▀"
                    case (nil, let lower?): "\u{1B}[49m\u{1B}[38;\(lower)m▄"
                    case (nil, nil): "\u{1B}[49m "
                    }
                text += cell
            }
            text += "\u{1B}[0m\n"
        }
        return text
    }
}

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
