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
