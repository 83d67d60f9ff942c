import Pipeline

extension PixelSize {
    /// Whether a thumbnail of this size does for its picture at a target size: no smaller than what is wanted, no larger
    /// than the picture, and of its proportions. No side differs by more than rounding to whole pixels explains.
    func canStandIn(for picture: PixelSize, at target: PixelSize) -> Bool {
        guard width >= target.width, height >= target.height, bytes(1) <= picture.bytes(1) else { return false }
        let wide = Double(width) * Double(picture.height)
        let tall = Double(height) * Double(picture.width)
        return abs(wide - tall) <= Double(max(picture.width, picture.height))
    }
}
