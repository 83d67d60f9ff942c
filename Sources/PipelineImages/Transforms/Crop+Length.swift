public import Pipeline

extension Crop {
    /// A side or a distance, in pixels or in percent of the picture's side.
    public enum Length: Sendable, Hashable {
        /// A number of pixels.
        case pixels(Int)
        /// A percentage of the picture's width or height, rounded to pixels.
        case percent(Double)

        /// Returns the length in pixels for a side of the picture.
        func pixels(of side: Int) -> Int {
            switch self {
            case .pixels(let count): count
            case .percent(let hundredths): Int(clamping: (hundredths / 100 * Double(side)).rounded())
            }
        }

        /// Whether it is a percentage above 0.
        var isPart: Bool { if case .percent(let hundredths) = self { hundredths > 0 } else { false } }
    }
}

extension Crop.Length: CustomStringConvertible {
    /// The length as text, such as `300` or `12.5%`.
    public var description: String {
        switch self {
        case .pixels(let count): "\(count)"
        case .percent(let hundredths): "\(hundredths)%"
        }
    }
}

extension StageParameter.Kind where Value == Crop.Length {
    /// A whole number of pixels in a range, or a percentage from -100% to 100%, such as `12.5%`. If the range is positive,
    /// the percentage must be too.
    public static func length(_ range: ClosedRange<Int>) -> Self {
        Self(
            "pixels from \(range.lowerBound) to \(range.upperBound), or a percentage such as 50%",
            example: "\(range.lowerBound)"
        ) { text in
            if let pixels = Int(text) { return range.contains(pixels) ? .pixels(pixels) : nil }
            guard text.last == "%", let percent = Double(text.dropLast()), abs(percent) <= 100,
                percent > 0 || range.lowerBound <= 0
            else { return nil }
            return .percent(percent)
        }
    }
}

extension StageParameter.Kind where Value == PixelSize {
    /// Width and height in any unit, such as `16:9` or `16/9`.
    public static var aspect: Self {
        Self("an aspect such as 16:9 or 16/9", example: "16/9", text: { "\($0.width):\($0.height)" }) { text in
            let sides = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "/" }.map { Int($0) }
            guard sides.count == 2, let width = sides[0], let height = sides[1], 1...1_000_000 ~= width,
                1...1_000_000 ~= height
            else { return nil }
            return PixelSize(width: width, height: height)
        }
    }
}
