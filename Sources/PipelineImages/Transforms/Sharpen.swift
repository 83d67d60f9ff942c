public import Pipeline

/// Sharpens the picture with an unsharp mask. Transparency is unchanged.
///
/// - Throws: `CancellationError`.
public struct Sharpen: SpecifiedTransform, ColorKeeping {
    private let amount: Double
    private let sigma: Double

    package static let specification = StageSpecification(
        "sharpen", "Sharpens the image by an unsharp mask.", example: "0.5",
        .optional("amount", .number(0...10), "How strongly.", default: 0.5, example: "0.8"),
        .optional("sigma", .number(0...100), "The deviation in pixels.", default: 0.7, example: "1"),
        make: Sharpen.init)

    /// Makes the transform.
    /// - Parameters:
    ///   - amount: The strength, from 0 to 10; 0.5, the default, suits thumbnails. Values out of range are clamped.
    ///   - sigma: The standard deviation of the blur in pixels, from 0 to 100; 0.7 by default.
    public init(_ amount: Double = 0.5, sigma: Double = 0.7) {
        self.amount = amount.isFinite ? min(10, max(0, amount)) : 0
        self.sigma = sigma.isFinite ? min(100, max(0, sigma)) : 0
    }

    /// The amount and the deviation.
    public var parameters: String { "\(amount), sigma: \(sigma)" }

    public var keepsColors: Bool { true }

    public var keepsGainMap: Bool { true }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard amount > 0 else { return image }
        let blurred = try Blur(sigma: sigma).transformed(image, cancellation)
        // In 256ths, so that integers are enough.
        let factor = Int((amount * 256).rounded())
        let hasAlpha = image.layout.hasAlpha
        let channels = image.layout.channelCount
        var frame = -1
        var result = try image.mapPixels(cancellation) { old, new, pixels in
            if pixels.lowerBound == 0 { frame += 1 }
            try blurred.withPixels(ofFrame: frame) { blurred in
                for index in pixels.lowerBound * channels..<pixels.upperBound * channels {
                    let value = Int(old[index])
                    let isAlpha = hasAlpha && index % 4 == 3
                    let change = isAlpha ? 0 : ((value - Int(blurred[index])) * factor + 128) >> 8
                    new[index] = UInt8(clamping: value + change)
                }
            }
        }
        result.gainMap = image.gainMap
        return result
    }
}
