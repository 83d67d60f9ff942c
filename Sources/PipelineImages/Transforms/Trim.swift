public import Pipeline

/// Cuts off edges of one colour, by default that of the top left pixel. A picture of only that colour is unchanged.
///
/// An animation loses only what all its frames can spare.
///
/// - Throws: `CancellationError`.
public struct Trim: SpecifiedTransform, ColorDrawing {
    private let tolerance: Int
    private var color: Color?
    private let isEqualAcross: Bool
    private let isEqualDown: Bool

    package static let specification = StageSpecification(
        "trim", "Cuts off a border of one colour.",
        .optional(
            "tolerance", .integer(0...255), "How far the border's colours may differ.", default: 10, example: "20"),
        .optional("colour", .color, "The border's colour; by default that of the top left pixel.", example: "white"),
        .optional("equalSides", .flag, "Cuts as much off on the left as on the right.", default: false),
        .optional("equalEnds", .flag, "Cuts as much off above as below.", default: false)
    ) { Trim(tolerance: $0, color: $1, equalSides: $2, equalEnds: $3) }

    /// Makes the transform.
    /// - Parameters:
    ///   - tolerance: How far a channel may differ from the colour, from 0 to 255; 10 by default.
    ///   - color: The border's colour; `nil`, the default, for that of the top left pixel.
    ///   - equalSides: Whether the left and the right lose the same, as much as both can spare; by default not.
    ///   - equalEnds: Whether the top and the bottom lose the same; by default not.
    public init(tolerance: Int = 10, color: Color? = nil, equalSides: Bool = false, equalEnds: Bool = false) {
        self.tolerance = min(255, max(0, tolerance))
        self.color = color
        (isEqualAcross, isEqualDown) = (equalSides, equalEnds)
    }

    public var parameters: String {
        "\(tolerance)" + (color.map { ", \($0)" } ?? "") + (isEqualAcross ? ", equal sides" : "")
            + (isEqualDown ? ", equal ends" : "")
    }

    package func drawing(in space: PixelLayout.ColorSpace) -> Trim {
        var trim = self
        trim.color = color?.converted(to: space)
        return trim
    }

    /// Makes the new pixels of every frame. Colours are compared in 8 bits.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard let rest = try inside(image.reducedToBytes(cancellation), cancellation) else { return image }
        return try Crop(x: rest.x, y: rest.y, width: rest.size.width, height: rest.size.height)
            .transformed(image, cancellation)
    }

    /// What the border lies around; `nil` if nothing is to be cut off.
    private func inside(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> PixelRegion? {
        var (left, right, top, bottom) = (image.width, -1, image.height, -1)
        // A grey picture has no edge of another colour.
        if let color, !color.isGray, image.layout == .gray { return nil }
        let edge = try image.withPixels { pixels in
            color?.pixel(in: image.layout) ?? Array(pixels.prefix(image.layout.channelCount))
        }
        for frame in image.frames.indices {
            try image.withPixels(ofFrame: frame) { pixels in
                for y in 0..<image.height {
                    if y % 64 == 0 { try cancellation.check() }
                    let row = y * image.width
                    guard let first = (0..<image.width).first(where: { differs(pixels, row + $0, edge) }) else {
                        continue
                    }
                    (top, bottom) = (min(top, y), y > bottom ? y : bottom)
                    left = min(left, first)
                    // Only pixels to the right of the rightmost one so far matter.
                    if let last = (right + 1..<image.width).last(where: { differs(pixels, row + $0, edge) }) {
                        right = last
                    }
                }
            }
        }
        guard right >= left, bottom >= top else { return nil }
        if isEqualAcross { (left, right) = Self.evened(left, right, within: image.width) }
        if isEqualDown { (top, bottom) = Self.evened(top, bottom, within: image.height) }
        return PixelRegion(x: left, y: top, size: PixelSize(width: right - left + 1, height: bottom - top + 1))
    }

    /// Widens a range so that it has the same distance to both ends.
    private static func evened(_ first: Int, _ last: Int, within length: Int) -> (Int, Int) {
        let margin = min(first, length - 1 - last)
        return (margin, length - 1 - margin)
    }

    private func differs(_ pixels: UnsafeBufferPointer<UInt8>, _ index: Int, _ color: [UInt8]) -> Bool {
        let start = index * color.count
        // Fully transparent pixels are equal, whatever their colours.
        if color.count == 4, pixels[start + 3] == 0, color[3] == 0 { return false }
        for channel in color.indices where abs(Int(pixels[start + channel]) - Int(color[channel])) > tolerance {
            return true
        }
        return false
    }
}
