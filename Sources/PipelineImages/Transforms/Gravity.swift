import Pipeline

/// Where in a larger area a smaller one lies.
///
/// In the middle of an odd number of free pixels, the one that is left over lies to the right or below.
public enum Gravity: String, Sendable, Hashable, CaseIterable {
    /// In the middle.
    case centre
    /// At an edge, in its middle.
    case north, east, south, west
    /// In a corner.
    case northEast, southEast, southWest, northWest

    /// How far from the left and the top, from 0 to 1.
    private var position: (x: Double, y: Double) {
        switch self {
        case .centre: (0.5, 0.5)
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

    /// The left upper corner of `size` in `area`; negative where it is larger.
    func origin(of size: PixelSize, in area: PixelSize) -> (x: Int, y: Int) {
        (
            Int((Double(area.width - size.width) * position.x).rounded(.down)),
            Int((Double(area.height - size.height) * position.y).rounded(.down))
        )
    }
}
