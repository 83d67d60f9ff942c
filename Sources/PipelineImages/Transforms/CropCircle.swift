public import Pipeline

/// Cuts the largest circle out of the picture's middle. Pixels around it become transparent.
///
/// - Throws: `CancellationError`.
public struct CropCircle: SpecifiedTransform, ColorKeeping {
    package static let specification = StageSpecification(
        "circle", "Keeps a circle of the image.", make: CropCircle.init)

    /// Makes the transform.
    public init() {}

    public var keepsColors: Bool { true }

    public var keepsDepth: Bool { true }

    public var keepsHDR: Bool { true }

    public var keepsGainMap: Bool { true }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let square = PixelSize(square: min(image.width, image.height))
        return try RoundCorners(radius: .infinity)
            .transformed(try Crop(square).transformed(image, cancellation), cancellation)
    }
}
