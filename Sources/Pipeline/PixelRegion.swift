/// A rectangle of a picture's pixels.
public struct PixelRegion: Sendable, Hashable {
    /// Pixels to its left.
    public var x: Int
    /// Rows above it.
    public var y: Int
    /// Its own size.
    public var size: PixelSize

    /// Makes the rectangle of a size whose left upper corner is at `x` and `y`.
    public init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// The first column to its right.
    package var right: Int { x + size.width }
    /// The first row below it.
    package var bottom: Int { y + size.height }

    /// Whether it has pixels, all of them in a picture of a size.
    package func lies(in area: PixelSize) -> Bool {
        x >= 0 && y >= 0 && size.width > 0 && size.height > 0 && x < area.width && y < area.height
            && size.width <= area.width - x && size.height <= area.height - y
    }
}
