import Pipeline
import Stages

/// Scales the picture to what a geometry makes of the source's size, up or down.
struct FitGeometry: Transform {
    private let geometry: Geometry

    init(_ geometry: Geometry) { self.geometry = geometry }

    var signature: String? { "fitGeometry(lanczos3, \(geometry))" }
    var parameters: String { "\(geometry)" }

    func apply(_ image: DecodedImage) async throws -> DecodedImage {
        try await Resize(target(of: image), fit: .fill, enlarges: true).apply(image)
    }

    /// Reckoned from the native size where the picture is that, reduced: a decoder's rounding doesn't show.
    private func target(of image: DecodedImage) -> PixelSize {
        let (size, native) = (image.size, image.nativeSize)
        let skew = Double(size.width) * Double(native.height) - Double(size.height) * Double(native.width)
        let isReduced = abs(skew) <= Double(max(native.width, native.height))
        return target(of: isReduced ? native : size)
    }

    /// What becomes of a picture of a size.
    func target(of size: PixelSize) -> PixelSize { geometry.target(of: size) }
}
