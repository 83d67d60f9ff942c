import Pipeline
import Stages

/// Scales the image up or down to the size that a geometry gives for its source.
struct FitGeometry: PixelTransform, PixelSizing {
    private let geometry: Geometry

    init(_ geometry: Geometry) { self.geometry = geometry }

    var signature: String? { "fitGeometry(lanczos3, \(geometry))" }
    var parameters: String { "\(geometry)" }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try Resize(geometry.target(of: image.unreducedSize), fit: .fill, enlarges: true)
            .transformed(image, cancellation)
    }

    /// The smallest box with no side shorter than the result's.
    func neededBox(of source: PixelSize, later: PixelNeeds) -> PixelSize? {
        let target = geometry.target(of: source)
        let scale = max(
            Double(target.width) / Double(source.width), Double(target.height) / Double(source.height))
        return PixelSize(
            width: Int((Double(source.width) * scale).rounded(.up)),
            height: Int((Double(source.height) * scale).rounded(.up)))
    }
}
