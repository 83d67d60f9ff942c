public import Pipeline

/// Puts the picture on a background, which ends its transparency. A picture without any stays as it is.
///
/// - Throws: `CancellationError`.
public struct Flatten: PixelTransform, PixelSizing {
    private let background: Colour

    /// Flattens.
    /// - Parameter background: the colour, by default white; its own alpha is of no account.
    public init(_ background: Colour = .white) {
        self.background = background
    }

    /// The background.
    public var signature: String? { "flatten(\(parameters))" }

    /// The background.
    public var parameters: String { "\(background)" }

    /// What the next stages need: pixels are treated one by one.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { later.box(of: size) }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        if image.layout == .grey || image.layout == .rgb { return image }
        let behind = [background.red, background.green, background.blue].map(Int.init)
        return try image.mapPixels(layout: .rgb, cancellation) { old, new, pixels in
            for index in pixels {
                let alpha = Int(old[4 * index + 3])
                for channel in 0..<3 {
                    let sum = Int(old[4 * index + channel]) * alpha + behind[channel] * (255 - alpha)
                    new[3 * index + channel] = UInt8((sum + 127) / 255)
                }
            }
        }
    }
}
