import Pipeline
package import Stages

extension Crop.Length {
    /// Reads pixels in a range, such as `300`, or a percentage from -100% to 100%, such as `12.5%`; `nil` for anything
    /// else. If the range is positive, the percentage must be too.
    package init?(text: String, in range: ClosedRange<Int>) {
        if let pixels = Int(text) {
            guard range.contains(pixels) else { return nil }
            self = .pixels(pixels)
        } else {
            guard text.last == "%", let percent = Double(text.dropLast()), abs(percent) <= 100,
                percent > 0 || range.lowerBound <= 0
            else { return nil }
            self = .percent(percent)
        }
    }
}

extension PixelSize {
    /// Reads an aspect: `16:9` or `16/9`; `nil` for anything else.
    package init?(aspect text: some StringProtocol) {
        let sides = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "/" }.map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1], 1...1_000_000 ~= width,
            1...1_000_000 ~= height
        else { return nil }
        self.init(width: width, height: height)
    }
}
