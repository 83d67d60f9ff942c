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
    /// A size that fits already is returned as it is: nothing is ever enlarged. One side of the box may be 0, for any
    /// length.
    package func fitted(into box: PixelSize) -> PixelSize {
        let box = box.isBox ? box.withoutZero : box
        guard width > box.width || height > box.height else { return self }
        return scaled(into: box)
    }

    /// The largest size with this one's aspect that fits into `box`, even if it is larger than this one.
    package func scaled(into box: PixelSize) -> PixelSize {
        let box = box.isBox ? box.withoutZero : box
        guard width > 0, height > 0 else { return self }
        let scale = min(Double(box.width) / Double(width), Double(box.height) / Double(height))
        return PixelSize(
            width: max(1, min(box.width, Int(clamping: (Double(width) * scale).rounded()))),
            height: max(1, min(box.height, Int(clamping: (Double(height) * scale).rounded()))))
    }
}

extension PixelSize {
    /// A side that no image exceeds. 0 in a box means it.
    private static let anyLength = Int(Int32.max)

    /// Whether images can be fitted into this size: no side is negative, and one at least isn't 0.
    package var isBox: Bool { width >= 0 && height >= 0 && (width > 0 || height > 0) }

    /// The box without a side of 0, which means any length. Boxes that mean the same are then equal.
    package var withoutZero: PixelSize {
        PixelSize(
            width: width == 0 ? Self.anyLength : min(width, Self.anyLength),
            height: height == 0 ? Self.anyLength : min(height, Self.anyLength))
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
