import Pipeline
import PipelineImages

/// Changes colours by thumbor's arithmetic. Transparency is unchanged.
struct ThumborColors: PixelTransform {
    /// What is done to each pixel.
    enum Change: Equatable {
        /// Luma by ITU-R BT.601.
        case grey
        /// Adds percents of white to red, green and blue.
        case sum(Int, Int, Int)
        /// Scales the distance from the middle by the square of 1 and these percents.
        case contrast(Int)
        /// Scales the distance from the perceived brightness.
        case saturation(Double)
    }

    private let change: Change

    init(_ change: Change) { self.change = change }

    var signature: String? { "thumborColors(\(parameters))" }

    var parameters: String {
        switch change {
        case .grey: "grey"
        case .sum(let red, let green, let blue): "sum \(red) \(green) \(blue)"
        case .contrast(let percent): "contrast \(percent)"
        case .saturation(let factor): "saturation \(factor)"
        }
    }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let from = image.layout.channelCount
        let to = max(3, from)
        let frames = try image.frames.indices.map { index in
            try image.withPixels(ofFrame: index) { pixels in
                var result = [UInt8](repeating: 255, count: pixels.count / from * to)
                for pixel in 0..<pixels.count / from {
                    if pixel % 65_536 == 0 { try cancellation.check() }
                    let start = pixel * from
                    func channel(_ index: Int) -> Int { Int(pixels[start + min(index, from - 1)]) }
                    let color = changed(SIMD3(channel(0), channel(1), channel(2)))
                    for index in 0..<3 { result[pixel * to + index] = UInt8(clamping: color[index]) }
                    if to == 4 { result[pixel * to + 3] = pixels[start + 3] }
                }
                return DecodedImage.Frame(pixels: result, delay: image.frames[index].delay)
            }
        }
        return DecodedImage(
            size: image.size, layout: to == 4 ? .rgba : .rgb, frames: frames, loopCount: image.loopCount,
            nativeSize: image.nativeSize)
    }

    private func changed(_ color: SIMD3<Int>) -> SIMD3<Int> {
        switch change {
        case .grey:
            // Pillow's weights, of 65536.
            let luma = (19_595 * color.x + 38_470 * color.y + 7471 * color.z + 32_768) >> 16
            return SIMD3(repeating: luma)
        case .sum(let red, let green, let blue):
            return color &+ SIMD3(255 * red / 100, 255 * green / 100, 255 * blue / 100)
        case .contrast(let percent):
            let factor = (percent + 100) * (percent + 100) / 100
            return (color &- 128) &* factor / 100 &+ 128
        case .saturation(let factor):
            let (red, green, blue) = (Double(color.x), Double(color.y), Double(color.z))
            let brightness = Float((red * red * 0.299 + green * green * 0.587 + blue * blue * 0.114).squareRoot())
            // Integers cut the fraction off.
            return SIMD3((0..<3).map { Int(brightness + (Float(color[$0]) - brightness) * Float(factor)) })
        }
    }
}
