import Stages

/// Replaces each colour's brightness by a mixture of a dark colour and white.
struct Duotone: Transform {
    let dark: Color

    var signature: String? { "duotone(\(dark))" }

    func apply(_ image: DecodedImage) async throws -> DecodedImage {
        let (channels, dark) = (image.layout.channelCount, [dark.red, dark.green, dark.blue])
        let pixels = try image.withPixels { pixels in
            stride(from: 0, to: pixels.count, by: channels).flatMap { start in
                let brightness =
                    channels < 3 ? Int(pixels[start]) : (0..<3).reduce(0) { $0 + Int(pixels[start + $1]) } / 3
                return dark.map { UInt8(Int($0) + (255 - Int($0)) * brightness / 255) }
            }
        }
        return DecodedImage(size: image.size, layout: .rgb, pixels: pixels, nativeSize: image.nativeSize)
    }
}
