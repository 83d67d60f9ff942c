public import Pipeline

extension DecodedImage {
    /// A picture of one colour.
    /// - Parameters:
    ///   - size: the picture's size in pixels.
    ///   - pixel: one byte a channel: grey; red, green, blue; or red, green, blue, alpha. Any other number of
    ///     bytes gives a grey picture of the first, or black.
    public static func filled(_ size: PixelSize, with pixel: [UInt8] = [128, 128, 128]) -> DecodedImage {
        let layout = PixelLayout.known(channelCount: pixel.count) ?? .grey
        let channels = layout.channelCount == pixel.count ? pixel : [pixel.first ?? 0]
        let row = (0..<size.width).flatMap { _ in channels }
        let pixels = (0..<size.height).flatMap { _ in row }
        return DecodedImage(size: size, layout: layout, frames: [Frame(pixels: pixels)])
    }
}
