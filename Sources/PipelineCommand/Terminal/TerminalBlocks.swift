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
