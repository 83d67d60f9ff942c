public import Pipeline

/// Mirrors the picture. Pixels only change places.
///
/// - Throws: `CancellationError`.
public struct Flip: SpecifiedTransform, PixelSizing, ColorKeeping {
    /// The sides that are swapped.
    public enum Axis: String, Sendable, Hashable, CaseIterable {
        /// Left and right.
        case horizontal
        /// Top and bottom.
        case vertical
    }

    private let axis: Axis

    package static let specification = StageSpecification(
        "flip", "Mirrors the image.", .required("axis", .choice(Axis.allCases), "The direction."), make: Flip.init)

    /// Makes the transform.
    /// - Parameter axis: The sides that are swapped.
    public init(_ axis: Axis) {
        self.axis = axis
    }

    public var parameters: String { axis.rawValue }

    /// Returns what later stages need: pixels only change places.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { later.box(of: size) }

    public var keepsColors: Bool { true }

    public var keepsDepth: Bool { true }

    public var keepsHDR: Bool { true }

    public var keepsGainMap: Bool { true }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try image.oriented(axis == .horizontal ? .upMirrored : .downMirrored, cancellation)
    }
}
