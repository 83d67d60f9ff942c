/// A size in pixels.
public struct PixelSize: Sendable, Hashable {
    /// The number of pixels in a row.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// Makes a size of `width` × `height` pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// A square box, as `maxPixelSize: 640` means it.
    public init(square side: Int) { self.init(width: side, height: side) }

    /// The largest size with this one's aspect that fits into `box`, each side at least one pixel.
    /// A size that fits already is returned as it is: nothing is ever enlarged.
    public func fitted(into box: PixelSize) -> PixelSize {
        guard width > box.width || height > box.height, width > 0, height > 0 else { return self }
        let scale = min(Double(box.width) / Double(width), Double(box.height) / Double(height))
        return PixelSize(
            width: max(1, min(box.width, Int(clamping: (Double(width) * scale).rounded()))),
            height: max(1, min(box.height, Int(clamping: (Double(height) * scale).rounded()))))
    }
}

extension PixelSize: CustomStringConvertible {
    /// Such as `640×480`.
    public var description: String { "\(width)×\(height)" }
}

extension PixelSize: ExpressibleByIntegerLiteral {
    /// A square box: `maxPixelSize: 640` is 640×640.
    public init(integerLiteral side: Int) { self.init(square: side) }
}
