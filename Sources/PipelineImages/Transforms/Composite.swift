public import Pipeline

/// Lays another picture, such as a watermark, over the picture, once or all over it. Every frame of an animation gets the
/// overlay's first frame.
///
/// - Throws: `CancellationError`.
public struct Composite: ColorDrawing {
    private let overlay: DecodedImage
    private let digest: BLAKE2bDigest
    private let gravity: Gravity
    private let offset: (x: Int, y: Int)
    private let scale: Double?
    private let opacity: Double
    /// The pixels between its repeats; `nil` if it lies there once.
    private let spacing: Int?
    /// The codecs that decoded the overlay's file.
    private var codecs: ImageCodecs?
    /// The colour space of the pixels. The overlay is in sRGB.
    private var space = PixelLayout.ColorSpace.sRGB

    package static func specification(_ codecs: ImageCodecs) -> StageSpecification {
        let distance = StageParameter.Kind.integer(-1_000_000...1_000_000)
        return StageSpecification(
            "composite", "Lays a picture from a file over the image.", example: "logo.png:southEast:scale=0.2",
            .required("file", .text, "The picture's path.", example: "logo.png"),
            .optional(
                "gravity", .choice(Gravity.allCases, word: \.rawValue), "Where the picture lies.", default: .southEast),
            .optional("x", distance, "Pixels from there towards the right.", default: 0, example: "-10"),
            .optional("y", distance, "Pixels from there downwards.", default: 0, example: "-10"),
            .optional("scale", .number(0...10), "The picture's width as a share of the image's.", example: "0.2"),
            .optional("opacity", .number(0...1), "From 0, invisible, to 1, opaque.", default: 1, example: "0.5"),
            .optional("tiled", .flag, "Repeats the picture from there in all directions.", default: false),
            .optional("spacing", .integer(0...1_000_000), "Pixels between its repeats.", default: 0, example: "40")
        ) {
            try Composite(
                file: $0, gravity: $1, offset: ($2, $3), scale: $4, opacity: $5, tiled: $6, spacing: $7, codecs: codecs)
        }
    }

    /// Lays a decoded picture over.
    /// - Parameters:
    ///   - overlay: The picture on top; its first frame is used.
    ///   - gravity: Where it lies; by default at the bottom right corner.
    ///   - offset: The pixels to move it to the right and down from there; by default none.
    ///   - scale: Its width as a share of the picture's width; by default it keeps its size.
    ///   - opacity: The opacity, from 0, invisible, to 1, the default.
    ///   - tiled: Whether it is repeated from there in all directions, until it covers the picture; by default not.
    ///   - spacing: The pixels between its repeats; 0 by default.
    public init(
        _ overlay: DecodedImage, gravity: Gravity = .southEast, offset: (x: Int, y: Int) = (0, 0),
        scale: Double? = nil, opacity: Double = 1, tiled: Bool = false, spacing: Int = 0
    ) {
        self.overlay = overlay
        digest = BLAKE2bDigest(of: overlay.frames[0].bytes)
        self.gravity = gravity
        self.offset = offset
        self.scale = scale.map { $0.isFinite ? min(10, max(0, $0)) : 1 }
        self.opacity = opacity.isFinite ? min(1, max(0, opacity)) : 1
        self.spacing = tiled ? min(1_000_000, max(0, spacing)) : nil
    }

    /// Lays the picture in a file over.
    ///
    /// The file is read and decoded once, by this initializer on the calling thread, so make the list when the program
    /// starts.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - gravity: Where the picture lies; by default at the bottom right corner.
    ///   - offset: The pixels to move it to the right and down from there; by default none.
    ///   - scale: Its width as a share of the picture's width; by default it keeps its size.
    ///   - opacity: The opacity, from 0, invisible, to 1, the default.
    ///   - tiled: Whether it is repeated from there in all directions, until it covers the picture; by default not.
    ///   - spacing: The pixels between its repeats; 0 by default.
    ///   - codecs: The formats that the file may have: those of the list, such as `PipelineResources.codecs`. There is no
    ///     default, since the file is decoded before the list is known.
    ///   - limits: What the picture may cost; by default 50 million pixels and 64 million bytes.
    /// - Throws: `LoadError` with `fileNotFound`, `fileUnreadable`, `unsupportedType` or `undecodable`, and any other
    ///   code of `Decode`.
    public init(
        file path: String, gravity: Gravity = .southEast, offset: (x: Int, y: Int) = (0, 0), scale: Double? = nil,
        opacity: Double = 1, tiled: Bool = false, spacing: Int = 0, codecs: ImageCodecs,
        limits: ImageLimits = ImageLimits()
    ) throws {
        let overlay = try DecodedImage(file: path, codecs: codecs, limits: limits)
        self.init(
            overlay, gravity: gravity, offset: offset, scale: scale, opacity: opacity, tiled: tiled, spacing: spacing)
        self.codecs = codecs
    }

    /// All options, and a digest of the overlay.
    public var signature: String? { "composite(\(digest), \(overlay.layout), \(parameters))" }

    public var parameters: String {
        "\(overlay.size), \(gravity.rawValue), offset: \(offset.x), \(offset.y)"
            + (scale.map { ", scale: \($0)" } ?? "") + (opacity < 1 ? ", opacity: \(opacity)" : "")
            + (spacing.map { ", tiled: \($0)" } ?? "")
    }

    /// The size of the picture or of the scaled overlay, whichever has more pixels.
    public func largestSize(of image: DecodedImage) -> PixelSize {
        let top = scaledSize(for: image) ?? image.size
        return top.bytes(1) > image.size.bytes(1) ? top : image.size
    }

    package func drawing(in space: PixelLayout.ColorSpace) -> Composite {
        var composite = self
        composite.space = space
        return composite
    }

    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let top = try sized(for: image, cancellation)
        let origin = gravity.origin(of: top.size, in: image.size)
        // Clamped so that sums can't overflow. No picture is that large.
        let far = 1 << 40
        let (x, y) = (origin.x + min(far, max(-far, offset.x)), origin.y + min(far, max(-far, offset.y)))
        return try image.covered(
            by: top, in: space, at: (x, y), repeatedAt: spacing.map { ($0 + top.width, $0 + top.height) },
            opacity: opacity, cancellation)
    }

    /// Returns the overlay, scaled for this picture.
    private func sized(for image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let first = DecodedImage(size: overlay.size, layout: overlay.layout, frames: [overlay.frames[0]])
        guard let size = scaledSize(for: image) else { return first }
        return try Resize(size, fit: .fill, enlarges: true).transformed(first, cancellation)
    }

    /// The size of the overlay; `nil` if it keeps its own.
    private func scaledSize(for image: DecodedImage) -> PixelSize? {
        scale.map { scale in
            let width = max(1, Int((Double(image.width) * scale).rounded()))
            let height = Double(width) * Double(overlay.height) / Double(overlay.width)
            return PixelSize(width: width, height: max(1, Int(min(1e9, height.rounded()))))
        }
    }
}

extension Composite: CodecStage {
    package var ownCodecs: (any CodecSet)? { codecs }
}
