import Pipeline

/// The waves that a BlurHash's text describes, in linear light.
struct BlurHashText {
    private let waves: PlaceholderWaves

    /// - Throws: `undecodable` for text of another length or with other characters, and for numbers out of range.
    init(_ text: String) throws(LoadError) {
        // A text of any length would be read to its end.
        let digits = text.utf8.prefix(Self.longest + 1).map { Self.digits[Int($0)] }
        guard digits.count >= 6 else { throw Self.damaged("it has \(digits.count) characters, and needs 6 at least") }
        guard !digits.contains(-1) else { throw Self.damaged("it has a character that isn't a digit of base 83") }
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 83 + $1 } }
        let (columns, rows) = (digits[0] % 9 + 1, digits[0] / 9 + 1)
        guard rows <= 9 else { throw Self.damaged("it claims \(rows) waves down, and 9 are the most") }
        guard digits.count == 4 + 2 * columns * rows else {
            throw Self.damaged(
                "\(columns)×\(rows) waves take \(4 + 2 * columns * rows) characters, and it has "
                    + (digits.count > Self.longest ? "more than \(Self.longest)" : "\(digits.count)"))
        }
        let strongest = Double(digits[1] + 1) / 166
        let mean = number(2..<6)
        guard mean <= 0xff_ffff else { throw Self.damaged("its mean colour is out of range") }
        var waves: [PlaceholderWaves.Wave] = [
            (0, 0, SIMD4(BlurHash.linear(mean >> 16), BlurHash.linear(mean >> 8 & 255), BlurHash.linear(mean & 255), 0))
        ]
        for index in 1..<columns * rows {
            let value = number(4 + 2 * index..<6 + 2 * index)
            guard value < 19 * 19 * 19 else { throw Self.damaged("one of its waves is out of range") }
            let levels = SIMD4(Double(value / 361), Double(value / 19 % 19), Double(value % 19), 9)
            let roots = (levels - 9) / 9
            // Amplitudes are stored as square roots with a sign.
            let amplitude = roots * roots.replacing(with: -roots, where: roots .< 0) * strongest
            waves.append((index % columns, index / columns, amplitude))
        }
        self.waves = PlaceholderWaves(waves, offset: 0)
    }

    /// Draws the placeholder; each side of `size` is at least 1.
    func image(of size: PixelSize) throws(LoadError) -> DecodedImage {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(3 * size.width * size.height)
        waves.forEachPixel(of: size) { light in
            for channel in 0..<3 { pixels.append(UInt8(clamping: BlurHash.encoded(light[channel]))) }
        }
        return try DecodedImage(validating: pixels, size: size, layout: .rgb)
    }

    /// The characters of 9×9 waves.
    private static let longest = 4 + 2 * 81

    /// The value of each character; -1 for any other character.
    private static let digits: [Int] = {
        var digits = [Int](repeating: -1, count: 256)
        for (value, character) in BlurHash.alphabet.enumerated() {
            if let code = character.asciiValue { digits[Int(code)] = value }
        }
        return digits
    }()

    private static func damaged(_ reason: String) -> LoadError { PlaceholderWaves.damaged("BlurHash", reason) }
}
