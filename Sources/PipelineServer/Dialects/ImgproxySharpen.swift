import Pipeline
import PipelineImages

/// Sharpens as libvips does, which imgproxy calls. Where the luma differs from the blurred picture's by more than 2 % of
/// white, the excess is added three times: at most 10 % for pixels that get lighter, and 20 % for those that get darker.
/// Smooth parts stay as they are, so noise isn't amplified.
///
/// libvips works on the lightness of CIELAB, to which the luma is close: the results differ by 0.1 of 255 on average at a
/// deviation of 1, and 1.3 at 5.
struct ImgproxySharpen: PixelTransform, ColorKeeping {
    private let sigma: Double

    /// - Parameter sigma: The deviation of the blur in pixels, up to 100.
    init(sigma: Double) { self.sigma = sigma }

    var keepsColors: Bool { true }

    var keepsGainMap: Bool { true }

    var signature: String? { "imgproxySharpen(\(sigma))" }

    var parameters: String { "\(sigma)" }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let blurred = try Blur(sigma: sigma).transformed(image, cancellation)
        let channels = image.layout.channelCount
        let frames = try image.frames.indices.map { index in
            try image.withPixels(ofFrame: index) { pixels in
                try blurred.withPixels(ofFrame: index) { blurred in
                    var result = Array(pixels)
                    for start in stride(from: 0, to: result.count, by: channels) {
                        if start % (channels << 16) == 0 { try cancellation.check() }
                        let change = Self.change(
                            Self.luma(pixels, start, channels) - Self.luma(blurred, start, channels))
                        // The fourth channel is the opacity.
                        for channel in start..<start + min(3, channels) {
                            result[channel] = UInt8(clamping: Int(pixels[channel]) + change)
                        }
                    }
                    return DecodedImage.Frame(pixels: result, delay: image.frames[index].delay)
                }
            }
        }
        var sharpened = DecodedImage(
            size: image.size, layout: image.layout, frames: frames, loopCount: image.loopCount,
            nativeSize: image.nativeSize)
        sharpened.gainMap = image.gainMap
        return sharpened
    }

    /// The luma in percent of white (BT.709).
    private static func luma(_ pixels: UnsafeBufferPointer<UInt8>, _ start: Int, _ channels: Int) -> Double {
        guard channels >= 3 else { return Double(pixels[start]) / 2.55 }
        let sum = 2126 * Int(pixels[start]) + 7152 * Int(pixels[start + 1]) + 722 * Int(pixels[start + 2])
        return Double(sum) / 25_500
    }

    /// What is added to each channel for a difference of luma in percent.
    private static func change(_ difference: Double) -> Int {
        let excess = max(0, abs(difference) - 2) * 3
        return Int(((difference > 0 ? min(10, excess) : -min(20, excess)) * 2.55).rounded())
    }
}
