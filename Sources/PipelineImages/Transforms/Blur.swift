public import Pipeline

/// Blurs the picture with a Gaussian kernel. Colours are weighted by alpha.
///
/// - Throws: `CancellationError`.
public struct Blur: SpecifiedTransform, ColorKeeping {
    private let sigma: Double

    package static let specification = StageSpecification(
        "blur", "Blurs the image by a Gaussian.",
        .required("sigma", .number(0...100), "The deviation in pixels.", example: "5"), make: Blur.init)

    /// Makes the transform.
    /// - Parameter sigma: The kernel's standard deviation in pixels, 0 to 100. Values out of range are clamped. An edge
    ///   becomes about three times as wide.
    public init(sigma: Double) {
        self.sigma = sigma.isFinite ? min(100, max(0, sigma)) : 0
    }

    public var parameters: String { "\(sigma)" }

    public var keepsColors: Bool { true }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        // A narrower kernel is a single pixel.
        guard sigma > 0.1 else { return image }
        let plan = ResamplePlan(from: image.size, to: image.size, reserve: 1)
        let across = try ResampleKernel(count: image.width, sigma: sigma, cancellation: cancellation)
        let down = try ResampleKernel(count: image.height, sigma: sigma, cancellation: cancellation)
        return try image.mapFrames(cancellation) { pixels in
            guard let start = pixels.baseAddress else { return [] }
            return try Resampler(plan, layout: image.layout, across: across, down: down).scaled(start, cancellation)
        }
    }
}
