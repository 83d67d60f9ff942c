public import Pipeline

/// Mirrors the picture. No pixel changes its colour.
///
/// - Throws: `CancellationError`.
public struct Flip: PixelTransform, PixelSizing {
    /// What changes places.
    public enum Axis: String, Sendable, Hashable, CaseIterable {
        /// Left and right.
        case horizontal
        /// Top and bottom.
        case vertical
    }

    private let axis: Axis

    /// Mirrors.
    /// - Parameter axis: what changes places.
    public init(_ axis: Axis) {
        self.axis = axis
    }

    /// The axis.
    public var signature: String? { "flip(\(parameters))" }

    /// The axis.
    public var parameters: String { axis.rawValue }

    /// What the next stages need: pixels only change places.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { later.box(of: size) }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try image.oriented(axis == .horizontal ? .upMirrored : .downMirrored, cancellation)
    }
}
