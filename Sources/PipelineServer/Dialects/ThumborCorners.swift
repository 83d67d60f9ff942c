import Pipeline
import PipelineImages

/// Puts a colour on the corners outside of an ellipse, or makes them transparent.
struct ThumborCorners: PixelTransform {
    /// In pixels; at most half a side counts.
    let across, down: Int
    /// `nil` for transparent corners.
    let color: Color?

    var signature: String? { "thumborCorners(\(parameters))" }

    var parameters: String { "\(across)|\(down), \(color.map { "\($0)" } ?? "transparent")" }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let from = image.layout.channelCount
        let to = color == nil ? 4 : max(3, from)
        let corner = PixelSize(width: min(across, image.width / 2), height: min(down, image.height / 2))
        let coverage = try coverage(corner, cancellation)
        let behind = color.map { [$0.red, $0.green, $0.blue].map(Int.init) }
        let frames = try image.frames.indices.map { index in
            try image.withPixels(ofFrame: index) { pixels in
                var result = [UInt8](repeating: 255, count: image.width * image.height * to)
                for pixel in 0..<image.width * image.height {
                    if pixel % 65_536 == 0 { try cancellation.check() }
                    let (x, y) = (pixel % image.width, pixel / image.width)
                    let (column, row) = (min(x, image.width - 1 - x), min(y, image.height - 1 - y))
                    let isInside = column >= corner.width || row >= corner.height
                    let cover = isInside ? 255 : coverage[row * corner.width + column]
                    for channel in 0..<3 {
                        let level = Int(pixels[pixel * from + min(channel, from - 1)])
                        let other = behind?[channel] ?? level
                        result[pixel * to + channel] = UInt8((level * cover + other * (255 - cover) + 127) / 255)
                    }
                    guard to == 4 else { continue }
                    let alpha = from == 4 ? Int(pixels[pixel * 4 + 3]) : 255
                    result[pixel * 4 + 3] = UInt8(behind == nil ? (alpha * cover + 127) / 255 : alpha)
                }
                return DecodedImage.Frame(pixels: result, delay: image.frames[index].delay)
            }
        }
        return DecodedImage(
            size: image.size, layout: to == 4 ? .rgba : .rgb, frames: frames, loopCount: image.loopCount,
            nativeSize: image.nativeSize)
    }

    /// How much of each pixel of the top left corner lies within the ellipse, from 0 to 255, sampled at 4 × 4 points.
    private func coverage(_ corner: PixelSize, _ cancellation: WorkCancellation) throws -> [Int] {
        try (0..<corner.width * corner.height).map { index in
            if index % 16_384 == 0 { try cancellation.check() }
            var inside = 0
            for point in 0..<16 {
                let x = Double(index % corner.width) + (Double(point % 4) + 0.5) / 4
                let y = Double(index / corner.width) + (Double(point / 4) + 0.5) / 4
                let (left, above) = (1 - x / Double(corner.width), 1 - y / Double(corner.height))
                if left * left + above * above <= 1 { inside += 1 }
            }
            return (inside * 255 + 8) / 16
        }
    }
}
