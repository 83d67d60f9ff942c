public import Pipeline

/// Puts the picture on a background colour, which removes transparency. Opaque pictures are unchanged.
///
/// - Throws: `CancellationError`.
public struct Flatten: SpecifiedTransform, PixelSizing, ColorDrawing {
    private var background: Color
    /// The colour space of the pixels, and of the background's numbers.
    private var space = PixelLayout.ColorSpace.sRGB

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

    package func drawing(in space: PixelLayout.ColorSpace) -> Flatten {
        var flatten = Flatten(background.converted(to: space))
        flatten.space = space
        return flatten
    }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let isOpaque = image.layout == .gray || image.layout == .rgb || image.layout.isDeep && !image.layout.hasAlpha
        if isOpaque { return image }
        var flattened = image.layout.isDeep ? try inLight(image, cancellation) : try inLevels(image, cancellation)
        flattened.gainMap = try image.gainMap?.covered(
            by: image.transparency(cancellation), of: image.size, cancellation)
        return flattened
    }

    /// Mixes the light of 16 bits a channel.
    private func inLight(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let light = LightLevels(space, isDeep: true)
        let behind = [background.red, background.green, background.blue].map { light[257 * Int($0)] }
        return try image.mapSamples(UInt16.self, layout: PixelLayout.rgb.with(.uint16), cancellation) {
            old, new, pixels in
            for index in pixels {
                let alpha = Double(old[4 * index + 3]) / 65535
                for channel in 0..<3 {
                    let level = old[4 * index + channel]
                    new[3 * index + channel] =
                        alpha == 1
                        ? level
                        : UInt16(light.level(light[Int(level)] * alpha + behind[channel] * (1 - alpha)))
                }
            }
        }
    }

    /// Mixes levels of 8 bits, as browsers do.
    private func inLevels(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
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

extension DecodedImage {
    /// How transparent each pixel of the first frame is, from 0, opaque, to 255.
    /// - Throws: `CancellationError`.
    func transparency(_ cancellation: WorkCancellation) throws -> [UInt8] {
        guard layout.hasAlpha else { return [UInt8](repeating: 0, count: size.bytes(1)) }
        let reduced = try labelled(.sRGB).reducedToBytes(cancellation)
        return try reduced.withPixels { pixels in
            stride(from: 3, to: pixels.count, by: 4).map { 255 - pixels[$0] }
        }
    }
}
