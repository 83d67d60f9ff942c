import Pipeline

extension PixelSize {
    /// Whether a thumbnail of this size can replace its picture at a target size: it is at least that large, no larger
    /// than the picture, and has its proportions, give or take rounding.
    func canStandIn(for picture: PixelSize, at target: PixelSize) -> Bool {
        guard width >= target.width, height >= target.height, bytes(1) <= picture.bytes(1) else { return false }
        let wide = Double(width) * Double(picture.height)
        let tall = Double(height) * Double(picture.width)
        return abs(wide - tall) <= Double(max(picture.width, picture.height))
    }

    /// The size with more pixels.
    static func larger(_ first: PixelSize?, _ second: PixelSize?) -> PixelSize? {
        guard let first, let second else { return first ?? second }
        return Double(first.width) * Double(first.height) >= Double(second.width) * Double(second.height)
            ? first : second
    }
}
