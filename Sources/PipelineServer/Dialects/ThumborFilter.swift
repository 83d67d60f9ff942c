import Pipeline
import PipelineImages

/// A filter that changes pixels, after the picture has its size.
enum ThumborFilter: Sendable {
    /// Keeps the size.
    case pixels(any PixelTransform)
    /// Turns the picture by quarters.
    case turn(Rotate)
    /// Scales by a factor.
    case proportion(Double)
    /// Enlarges a picture that is smaller than the sides of the path.
    case upscale
    /// Puts the picture on a canvas of the sides of the path, which may be smaller. With `isBehind` the colour shows
    /// through transparent pixels too.
    case fill(Color, isBehind: Bool)
    /// Lays another picture over this one.
    case mark(ThumborMark)

    /// Applies the filter.
    /// - Parameter box: The sides of the path; 0 for one that it doesn't name.
    func applied(
        to image: DecodedImage, box: PixelSize, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        switch self {
        case .pixels(let transform): return try transform.transformed(image, cancellation)
        case .turn(let rotate): return try rotate.transformed(image, cancellation)
        case .proportion(let factor):
            let (width, height) = (Double(image.width) * factor, Double(image.height) * factor)
            guard width >= 1, height >= 1 else { return image }
            return try resized(image, PixelSize(width: Int(width), height: Int(height)), cancellation)
        case .upscale:
            guard image.width < box.width, image.height < box.height else { return image }
            var size = box
            if Double(image.width) / Double(box.width) >= Double(image.height) / Double(box.height) {
                size.height = max(1, image.height * box.width / image.width)
            } else {
                size.width = max(1, image.width * box.height / image.height)
            }
            return try resized(image, size, cancellation)
        case .mark(let mark): return try mark.laid(over: image, cancellation)
        case .fill(let color, let isBehind):
            let whole = isBehind ? try Flatten(color).transformed(image, cancellation) : image
            return try filled(whole, box, color, cancellation)
        }
    }

    private func resized(
        _ image: DecodedImage, _ size: PixelSize, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try Resize(size, fit: .fill, enlarges: true).transformed(image, cancellation)
    }

    private func filled(
        _ image: DecodedImage, _ box: PixelSize, _ color: Color, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let canvas = PixelSize(
            width: box.width == 0 ? image.width : box.width, height: box.height == 0 ? image.height : box.height)
        // Half of a negative number is rounded down, as Python does.
        let (x, y) = ((canvas.width - image.width) >> 1, (canvas.height - image.height) >> 1)
        let shown = try Crop(
            x: max(0, -x), y: max(0, -y), width: min(canvas.width, image.width),
            height: min(canvas.height, image.height)
        ).transformed(image, cancellation)
        return try Pad(
            top: max(0, y), left: max(0, x), bottom: canvas.height - shown.height - max(0, y),
            right: canvas.width - shown.width - max(0, x), color: color
        ).transformed(shown, cancellation)
    }
}

extension ThumborFilter: CustomStringConvertible {
    var description: String {
        switch self {
        case .pixels(let transform): transform.signature ?? transform.name
        case .turn(let rotate): rotate.signature ?? rotate.name
        case .proportion(let factor): "proportion \(factor)"
        case .upscale: "upscale"
        case .mark(let mark): mark.description
        case .fill(let color, let isBehind): "fill \(color)\(isBehind ? " behind" : "")"
        }
    }
}
