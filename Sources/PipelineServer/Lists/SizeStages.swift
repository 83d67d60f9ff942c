import Pipeline
import PipelineImages

/// Refuses a picture whose size isn't the requested one. After a `Resize` that doesn't enlarge, that means that the size
/// is larger than the picture, which IIIF calls an error.
struct RequireSize: PixelTransform, ColorKeeping {
    /// In pixels; `nil` for any.
    let width, height: Int?
    /// Whether one of the two is enough.
    var either = false

    var keepsColors: Bool { true }

    var keepsDepth: Bool { true }

    var keepsHDR: Bool { true }

    var keepsGainMap: Bool { true }

    var signature: String? { "requireSize(\(parameters))" }

    var parameters: String {
        "\(width.map(String.init) ?? "any")\(either ? " or " : "×")\(height.map(String.init) ?? "any")"
    }

    func transformed(_ image: DecodedImage, _: WorkCancellation) throws -> DecodedImage {
        let fits = (width ?? image.width == image.width, height ?? image.height == image.height)
        guard either ? fits.0 || fits.1 : fits.0 && fits.1 else {
            throw LoadError(
                .untransformable, subject: "",
                "The size \(parameters) is larger than the region. Begin the size with ^ to have it enlarged.")
        }
        return image
    }
}

/// Scales the picture by a percentage of its size.
struct ScaleByPercent: PixelTransform, ColorKeeping {
    private let percent: Double
    private let longestSide: Int

    init(_ percent: Double, longestSide: Int) {
        self.percent = percent
        self.longestSide = longestSide
    }

    var keepsColors: Bool { true }

    var keepsDepth: Bool { true }

    var keepsHDR: Bool { true }

    var keepsGainMap: Bool { true }

    var signature: String? { "scale(\(percent) of \(longestSide))" }

    var parameters: String { "\(percent) %" }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        func side(_ length: Int) -> Double { max(1, (Double(length) * percent / 100).rounded()) }
        let (width, height) = (side(image.width), side(image.height))
        guard max(width, height) <= Double(longestSide) else {
            throw LoadError(
                .untransformable, subject: "", "\(percent) % of \(image.size) is above \(longestSide) pixels a side.")
        }
        return try Resize(width: Int(width), height: Int(height), fit: .fill, enlarges: true)
            .transformed(image, cancellation)
    }
}

/// Makes each pixel black or white, by its luma.
struct Bitonal: PixelTransform {
    var signature: String? { "bitonal" }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let gray = try Grayscale().transformed(image, cancellation)
        let channels = gray.layout.channelCount
        let frames = try gray.frames.indices.map { index in
            try gray.withPixels(ofFrame: index) { pixels in
                try cancellation.check()
                // The last of four channels is the opacity.
                let bytes = pixels.enumerated().map { index, value -> UInt8 in
                    channels == 4 && index % 4 == 3 ? value : value < 128 ? 0 : 255
                }
                return DecodedImage.Frame(pixels: bytes, delay: gray.frames[index].delay)
            }
        }
        return DecodedImage(
            size: gray.size, layout: gray.layout, frames: frames, loopCount: gray.loopCount,
            nativeSize: gray.nativeSize)
    }
}
