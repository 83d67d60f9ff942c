public import Pipeline

/// Removes the colours and keeps their luma (ITU-R BT.709). Transparency is unchanged.
///
/// - Throws: `CancellationError`.
public struct Grayscale: SpecifiedTransform, PixelSizing {
    package static let specification = StageSpecification(
        "greyscale", "Takes the colours out of the image.", make: Grayscale.init)

    /// Makes the transform.
    public init() {}

    /// Returns what later stages need: each pixel is processed on its own.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { later.box(of: size) }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard image.layout != .gray else { return image }
        let (from, to) = (image.layout.channelCount, image.layout.hasAlpha ? 4 : 1)
        return try image.mapPixels(layout: to == 4 ? .rgba : .gray, cancellation) { old, new, pixels in
            for index in pixels {
                let pixel = index * from
                // 0.2126, 0.7152 and 0.0722 of 65536.
                let luma =
                    (13933 * Int(old[pixel]) + 46871 * Int(old[pixel + 1]) + 4732 * Int(old[pixel + 2]) + 32768) >> 16
                for channel in 0..<min(3, to) { new[index * to + channel] = UInt8(luma) }
                if to == 4 { new[index * 4 + 3] = old[pixel + 3] }
            }
        }
    }
}
