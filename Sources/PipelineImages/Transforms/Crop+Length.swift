extension Crop {
    /// A side or a distance, in pixels or as a part of the picture's own side.
    public enum Length: Sendable, Hashable {
        /// Pixels.
        case pixels(Int)
        /// Hundredths of the picture's width, or of its height; rounded to pixels.
        case percent(Double)

        /// The same of a picture that is so long.
        func pixels(of side: Int) -> Int {
            switch self {
            case .pixels(let count): count
            case .percent(let hundredths): Int(clamping: (hundredths / 100 * Double(side)).rounded())
            }
        }

        /// Whether it is a part that isn't nothing.
        var isPart: Bool { if case .percent(let hundredths) = self { hundredths > 0 } else { false } }
    }
}

extension Crop.Length: CustomStringConvertible {
    /// Such as `300` or `12.5%`.
    public var description: String {
        switch self {
        case .pixels(let count): "\(count)"
        case .percent(let hundredths): "\(hundredths)%"
        }
    }
}
