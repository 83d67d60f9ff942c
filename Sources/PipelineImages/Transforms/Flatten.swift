public import Pipeline

/// Puts the picture on a background colour, which removes transparency. Opaque pictures are unchanged.
///
/// - Throws: `CancellationError`.
public struct Flatten: SpecifiedTransform, PixelSizing, ColorKeeping {
    private let background: Color

    package static let specification = StageSpecification(
        "flatten", "Puts a colour behind transparent pixels.",
        .optional("background", .color, "The colour.", default: .white), make: Flatten.init)

    /// Makes the transform.
    /// - Parameter background: The colour, by default white; its alpha is ignored.
    public init(_ background: Color = .white) {
        self.background = background
    }

    public var parameters: String { "\(background)" }

    /// Returns what later stages need: each pixel is processed on its own.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { later.box(of: size) }

    /// Whether the colour that it draws in has the same numbers in all colour spaces.
    public var keepsColors: Bool { background.isInAllSpaces }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        if image.layout == .gray || image.layout == .rgb { return image }
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
