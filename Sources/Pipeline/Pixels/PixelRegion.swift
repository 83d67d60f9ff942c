/// A rectangle of an image's pixels.
public struct PixelRegion: Sendable, Hashable {
    /// The number of pixels to its left.
    public var x: Int
    /// The number of rows above it.
    public var y: Int
    /// Its own size.
    public var size: PixelSize

    /// Makes the rectangle of a size whose upper left corner is at `x` and `y`.
    public init(x: Int, y: Int, size: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
    }

    /// The first column to its right.
    package var right: Int { x + size.width }
    /// The first row below it.
    package var bottom: Int { y + size.height }

    /// Whether it isn't empty and lies within an image of a size.
    package func lies(in area: PixelSize) -> Bool {
        x >= 0 && y >= 0 && size.width > 0 && size.height > 0 && x < area.width && y < area.height
            && size.width <= area.width - x && size.height <= area.height - y
    }
}
