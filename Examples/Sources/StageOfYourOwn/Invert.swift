import Pipeline

/// Turns light into dark: every byte of a pixel but its alpha.
struct Invert: Transform {
    let signature: String? = "invert"

    func apply(_ image: DecodedImage) async throws -> DecodedImage {
        let channels = image.layout.channels
        let frames = image.frames.map { frame in
            let pixels = frame.pixels.enumerated().map { index, byte in
                image.layout.hasAlpha && index % channels == channels - 1 ? byte : 255 - byte
            }
            return DecodedImage.Frame(pixels: pixels, delay: frame.delay)
        }
        return DecodedImage(
            size: image.size, layout: image.layout, frames: frames, loopCount: image.loopCount,
            nativeSize: image.nativeSize)
    }
}
