import Pipeline

/// Where a smaller area lies within a larger one.
///
/// If an odd number of pixels is free, centring leaves the extra one at the right or at the bottom.
public enum Gravity: String, Sendable, Hashable, CaseIterable {
    /// In the middle.
    case center = "centre"
    /// At the middle of an edge.
    case north, east, south, west
    /// In a corner.
    case northEast, southEast, southWest, northWest

    /// The position from left and top, from 0 to 1.
    private var position: (x: Double, y: Double) {
        switch self {
        case .center: (0.5, 0.5)
        case .north: (0.5, 0)
        case .east: (1, 0.5)
        case .south: (0.5, 1)
        case .west: (0, 0.5)
        case .northEast: (1, 0)
        case .southEast: (1, 1)
        case .southWest: (0, 1)
        case .northWest: (0, 0)
        }
    }

    /// The top left corner of `size` in `area`; negative where `size` is larger.
    func origin(of size: PixelSize, in area: PixelSize) -> (x: Int, y: Int) {
        (
            Int((Double(area.width - size.width) * position.x).rounded(.down)),
            Int((Double(area.height - size.height) * position.y).rounded(.down))
        )
    }
}
