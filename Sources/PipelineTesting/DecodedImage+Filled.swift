public import Pipeline

extension DecodedImage {
    /// Makes an image of one colour.
    /// - Parameters:
    ///   - size: The image's size in pixels.
    ///   - pixel: One byte for each channel: grey; red, green, blue; or red, green, blue, alpha. Any other number of
    ///     bytes makes a grey image of the first byte, or a black one.
    public static func filled(_ size: PixelSize, with pixel: [UInt8] = [128, 128, 128]) -> DecodedImage {
        let layout = PixelLayout.known(channelCount: pixel.count) ?? .gray
        let channels = layout.channelCount == pixel.count ? pixel : [pixel.first ?? 0]
        let row = (0..<size.width).flatMap { _ in channels }
        let pixels = (0..<size.height).flatMap { _ in row }
        return DecodedImage(size: size, layout: layout, frames: [Frame(pixels: pixels)])
    }
}
