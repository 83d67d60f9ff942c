public import Pipeline

/// Puts the picture on a larger canvas of one colour.
///
/// A canvas side shorter than the picture's is extended to it. An opaque picture gets an alpha channel if the colour
/// needs one.
///
/// - Throws: ``Pipeline/LoadError/Code/untransformable`` if the canvas is too large; `CancellationError`.
public struct Pad: SpecifiedTransform, ColorDrawing {
    private enum Extent: Sendable {
        case canvas(PixelSize, Gravity)
        case edges(top: Int, left: Int, bottom: Int, right: Int)
    }

    private let extent: Extent
    private var color: Color

    package static let specification = StageSpecification(
        "pad", "Puts the image on a larger canvas.", example: "1000:1000:colour=#ff8000",
        .optional("width", .integer(1...1_000_000), "The canvas's width, together with its height.", example: "1000"),
        .optional("height", .integer(1...1_000_000), "The canvas's height.", example: "1000"),
        .optional(
            "gravity", .choice(Gravity.allCases, word: \.rawValue), "Where the image lies on the canvas.",
            default: .center),
        .optional("colour", .color, "The canvas's colour.", default: .white),
        .optional("top", .integer(0...1_000_000), "Rows above, if no canvas is given.", default: 0, example: "10"),
        .optional("left", .integer(0...1_000_000), "Columns on the left.", default: 0, example: "10"),
        .optional("bottom", .integer(0...1_000_000), "Rows below.", default: 0, example: "10"),
        .optional("right", .integer(0...1_000_000), "Columns on the right.", default: 0, example: "10")
    ) { width, height, gravity, color, top, left, bottom, right in
        guard let width, let height else {
            return Pad(top: top, left: left, bottom: bottom, right: right, color: color)
        }
        return Pad(to: PixelSize(width: width, height: height), gravity: gravity, color: color)
    }

    /// Pads to a size.
    /// - Parameters:
    ///   - canvas: The size in pixels.
    ///   - gravity: Where the picture lies on it; by default in the middle.
    ///   - color: The colour around the picture; by default white.
    public init(to canvas: PixelSize, gravity: Gravity = .center, color: Color = .white) {
        extent = .canvas(canvas, gravity)
        self.color = color
    }

    /// Extends the picture at its edges. Negative numbers count as 0.
    /// - Parameters:
    ///   - top: The number of rows added above; 0 by default.
    ///   - left: The number of columns added on the left; 0 by default.
    ///   - bottom: The number of rows added below; 0 by default.
    ///   - right: The number of columns added on the right; 0 by default.
    ///   - color: The colour of the added pixels; by default white.
    public init(top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0, color: Color = .white) {
        extent = .edges(top: max(0, top), left: max(0, left), bottom: max(0, bottom), right: max(0, right))
        self.color = color
    }

    /// How far, and the colour.
    public var parameters: String {
        switch extent {
        case .canvas(let size, let gravity): "\(size), \(gravity.rawValue), \(color)"
        case .edges(let top, let left, let bottom, let right): "\(top), \(left), \(bottom), \(right), \(color)"
        }
    }

    public func largestSize(of image: DecodedImage) -> PixelSize { place(of: image.size).canvas }

    package func drawing(in space: PixelLayout.ColorSpace) -> Pad {
        var pad = self
        pad.color = color.converted(to: space)
        return pad
    }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let (x, y, canvas) = place(of: image.size)
        guard canvas != image.size else { return image }
        let map = image.gainMap?.padded(PixelRegion(x: x, y: y, size: image.size), on: canvas)
        let image =
            color.alpha < 255
            ? try image.withAlpha(cancellation) : color.isGray ? image : try image.withColor(cancellation)
        let (width, pixel) = (image.layout.bytesPerPixel, color.pixel(in: image.layout))
        var padded = try image.mapFrames(size: canvas, isOfAnyDepth: true, cancellation) { pixels in
            var result: [UInt8] = []
            result.reserveCapacity(canvas.bytes(width))
            let bar = (0..<canvas.width).flatMap { _ in pixel }
            for row in 0..<canvas.height {
                if row % 64 == 0 { try cancellation.check() }
                guard (y..<y + image.height).contains(row) else {
                    result.append(contentsOf: bar)
                    continue
                }
                let start = (row - y) * image.width * width
                result.append(contentsOf: bar[..<(x * width)])
                result.append(contentsOf: pixels[start..<start + image.width * width])
                result.append(contentsOf: bar[((x + image.width) * width)...])
            }
            return result
        }
        padded.gainMap = map
        return padded
    }

    private func place(of size: PixelSize) -> (x: Int, y: Int, canvas: PixelSize) {
        switch extent {
        case .canvas(let wanted, let gravity):
            let canvas = PixelSize(width: max(wanted.width, size.width), height: max(wanted.height, size.height))
            let origin = gravity.origin(of: size, in: canvas)
            return (origin.x, origin.y, canvas)
        case .edges(let top, let left, let bottom, let right):
            // A sum that overflows is refused as too large.
            func sum(_ numbers: Int...) -> Int {
                numbers.reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
            }
            return (
                left, top,
                PixelSize(width: sum(left, size.width, right), height: sum(top, size.height, bottom))
            )
        }
    }
}
