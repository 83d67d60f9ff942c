/// How the stored pixels have to be turned or mirrored to stand upright (EXIF tag 0x0112).
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// Nothing.
    case up = 1
    /// Mirror left to right.
    case upMirrored = 2
    /// Turn by 180°.
    case down = 3
    /// Mirror top to bottom.
    case downMirrored = 4
    /// Swap rows and columns.
    case leftMirrored = 5
    /// Turn by 90° clockwise.
    case right = 6
    /// Swap rows and columns and turn by 180°.
    case rightMirrored = 7
    /// Turn by 90° counterclockwise.
    case left = 8

    /// Whether width and height are swapped.
    var swapsSides: Bool { rawValue >= 5 }
}
