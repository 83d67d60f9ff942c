import Pipeline

/// Inverts the colours of an image, but not its alpha.
struct Invert: Transform {
    let signature: String? = "invert"

    func apply(_ image: DecodedImage) async throws -> DecodedImage {
        let channels = image.layout.channelCount
        let frames = try image.frames.enumerated().map { number, frame in
            let inverted = try image.withPixels(ofFrame: number) { pixels in
                pixels.enumerated().map { index, byte in
                    image.layout.hasAlpha && index % channels == channels - 1 ? byte : 255 - byte
                }
            }
            return DecodedImage.Frame(pixels: inverted, delay: frame.delay)
        }
        return DecodedImage(
            size: image.size, layout: image.layout, frames: frames, loopCount: image.loopCount,
            nativeSize: image.nativeSize)
    }
}
