public import Pipeline

/// Scales the picture to a given size, whatever the request's `maxPixelSize`, with a Lanczos-3 kernel.
///
/// | fit | a 400×200 picture resized to 100×100 |
/// |---|---|
/// | `.inside` | 100×50: all of it, within the size |
/// | `.outside` | 200×100: all of it, no side shorter than requested |
/// | `.cover` | 100×100: as `.outside`, cut to the size |
/// | `.contain` | 100×100: as `.inside`, with bars at the missing edges |
/// | `.fill` | 100×100: stretched |
/// | `.fillDown` | 100×100: as `.cover`; of a smaller picture the largest part of this aspect ratio, such as 20×20 of 40×20 |
/// | `.auto` | 100×100: as `.cover` if picture and size are both upright or both wide, else as `.inside` |
///
/// One side may be 0, for the length that keeps the aspect ratio, whatever the fit.
///
/// If a `Resize` follows `Decode` directly and the request has no `maxPixelSize`, the picture is decoded no larger than
/// this stage needs.
///
/// - Throws: ``Pipeline/LoadError/Code/untransformable`` if a side is negative or both are 0, or the picture becomes
///   too large; `CancellationError`.
public struct Resize: PixelTransform, PixelSizing, ColorDrawing {
    /// How the picture is fitted to the size.
    public enum Fit: String, Sendable, Hashable, CaseIterable {
        /// Fits within the size; the aspect ratio is kept.
        case inside
        /// Is no smaller than the size; the aspect ratio is kept.
        case outside
        /// Fills the size; excess at two edges is cut off.
        case cover
        /// Fits within the size, and bars fill the rest.
        case contain
        /// Stretches to the size; the aspect ratio changes.
        case fill
        /// Fills the size as ``cover`` does. A picture that is too small for it is cut to the aspect ratio of the size instead.
        case fillDown
        /// ``cover`` for a picture whose longer side is that of the size, and ``inside`` for another. Squares count as wide.
        case auto
    }

    private let size: PixelSize
    private let fit: Fit
    private let enlarges: Bool
    private let gravity: Gravity
    private var background: Color
    private let minimum: PixelSize

    package static let specification = StageSpecification(
        "resize", "Scales the image to a size.", example: "800:600:cover",
        .required("width", .integer(1...1_000_000), "The width in pixels.", example: "800"),
        .optional(
            "height", .integer(1...1_000_000), "The height in pixels. Without it only the width counts.", example: "600"
        ),
        .optional("fit", .choice(Fit.allCases), "How the image fills the size.", default: .inside, example: "cover"),
        .optional("enlarge", .flag, "Lets the image grow.", default: false),
        .optional(
            "gravity", .choice(Gravity.allCases, word: \.rawValue),
            "The part that cover keeps, and the place where contain puts the image.", default: .center),
        .optional("background", .color, "The colour around the image for contain.", default: .white),
        .optional(
            "minWidth", .integer(0...1_000_000), "The least width: it wins over the size, and lets the image grow.",
            default: 0, example: "200"),
        .optional("minHeight", .integer(0...1_000_000), "The least height, likewise.", default: 0, example: "200"),
        .optional(
            "zoom", .number(0.01...100), "A factor for width and height, such as a screen's pixel ratio.", default: 1,
            example: "2")
    ) {
        Resize(
            width: $0, height: $1 ?? 0, fit: $2, enlarges: $3, gravity: $4, background: $5,
            minimum: PixelSize(width: $6, height: $7), zoom: $8)
    }

    /// Makes the transform.
    /// - Parameters:
    ///   - size: The size in pixels.
    ///   - fit: How the picture is fitted to the size; by default ``Fit/inside``.
    ///   - enlarges: Whether smaller pictures are enlarged; `false` by default.
    ///   - gravity: The part that `.cover` keeps, and the place of the picture with `.contain`; by default the middle.
    ///   - background: The colour of `.contain`'s bars; by default white.
    ///   - minimum: The least size in pixels, 0 for a side without one; by default none. It wins over `size`, and enlarges
    ///     smaller pictures; the aspect ratio stays.
    ///   - zoom: A factor for `size`, such as the pixel ratio of a screen; 1 by default. One that isn't above 0 leaves no size.
    public init(
        _ size: PixelSize, fit: Fit = .inside, enlarges: Bool = false, gravity: Gravity = .center,
        background: Color = .white, minimum: PixelSize = 0, zoom: Double = 1
    ) {
        self.size = zoom == 1 ? size : size.zoomed(by: zoom)
        self.fit = fit
        self.enlarges = enlarges
        self.gravity = gravity
        self.background = background
        self.minimum = PixelSize(width: max(0, minimum.width), height: max(0, minimum.height))
    }

    /// Resizes to a width and a height in pixels; see ``init(_:fit:enlarges:gravity:background:minimum:zoom:)``.
    public init(
        width: Int, height: Int, fit: Fit = .inside, enlarges: Bool = false, gravity: Gravity = .center,
        background: Color = .white, minimum: PixelSize = 0, zoom: Double = 1
    ) {
        self.init(
            PixelSize(width: width, height: height), fit: fit, enlarges: enlarges, gravity: gravity,
            background: background, minimum: minimum, zoom: zoom)
    }

    public var signature: String? {
        "resize(lanczos3, \(size), \(fit.rawValue), \(enlarges), \(gravity.rawValue), \(background)"
            + (minimum == 0 ? ")" : ", at least \(minimum))")
    }

    public var parameters: String {
        "\(size), \(fit.rawValue)\(enlarges ? ", enlarges" : "")\(minimum == 0 ? "" : ", at least \(minimum)")"
    }

    /// The size before anything is cut off, or with the bars.
    public func largestSize(of image: DecodedImage) -> PixelSize {
        guard size.isBox else { return image.size }
        let target = target(of: image)
        guard fit == .contain, size.width > 0, size.height > 0 else { return target }
        return PixelSize(width: max(target.width, size.width), height: max(target.height, size.height))
    }

    package func drawing(in space: PixelLayout.ColorSpace) -> Resize {
        guard fit == .contain else { return self }
        var resize = self
        resize.background = background.converted(to: space)
        return resize
    }

    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard size.isBox else {
            throw LoadError(.untransformable, subject: "", "No picture can have \(size) pixels.")
        }
        let scaled = try scaled(image, to: target(of: image), cancellation)
        guard size.width > 0, size.height > 0 else { return scaled }
        // A result that has to be larger isn't cut below that.
        let kept = PixelSize(width: max(size.width, minimum.width), height: max(size.height, minimum.height))
        switch fit.resolved(for: image.unreducedSize, size) {
        case .cover: return try Crop(kept, gravity: gravity).transformed(scaled, cancellation)
        case .fillDown:
            let part = kept.reduced(into: scaled.size)
            return try Crop(PixelSize(width: max(1, part.width), height: max(1, part.height)), gravity: gravity)
                .transformed(scaled, cancellation)
        case .contain: return try Pad(to: size, gravity: gravity, color: background).transformed(scaled, cancellation)
        case .inside, .outside, .fill, .auto: return scaled
        }
    }

    /// Returns the box that a decoder may reduce the picture to. For `.outside`, `.cover` and `.fill`, neither side may
    /// get shorter than the result's.
    public func neededBox(of source: PixelSize, later: PixelNeeds) -> PixelSize? {
        guard size.isBox else { return nil }
        guard minimum == 0 else {
            let target = target(of: source)
            // Neither side may get shorter than the result's.
            let scale = max(
                Double(target.width) / Double(source.width), Double(target.height) / Double(source.height))
            return scale == 1 ? nil : source.scaledUp(by: scale)
        }
        switch fit.resolved(for: source, size) {
        case .auto: return nil
        case .inside, .contain: return enlarges || source.fitted(into: size) != source ? size : nil
        case .outside, .cover, .fillDown, .fill:
            let (across, down) = scales(of: source)
            let scale = max(across, down)
            guard scale < 1 || enlarges, source.width > 0, source.height > 0 else { return nil }
            // One side is exact; the other is rounded up so that it doesn't reduce the picture further.
            return source.scaledUp(by: scale)
        }
    }

    /// The size before anything is cut off or added. It is calculated from the size before a decoder reduced the
    /// picture, to avoid the decoder's rounding.
    private func target(of image: DecodedImage) -> PixelSize {
        let target = target(of: image.unreducedSize)
        return target.width <= image.width && target.height <= image.height ? target : self.target(of: image.size)
    }

    private func target(of source: PixelSize) -> PixelSize {
        let (across, down) = scales(of: source)
        func side(_ length: Int, _ scale: Double) -> Int {
            // A size beyond any picture is refused later.
            return max(1, Int(min(1e9, (Double(length) * scale).rounded())))
        }
        var scale: (Double, Double)
        switch fit.resolved(for: source, size) {
        case .inside, .contain: scale = (min(across, down), min(across, down))
        case .outside, .cover, .fillDown: scale = (max(across, down), max(across, down))
        case .fill, .auto: scale = (across, down)
        }
        if !enlarges { scale = (min(1, scale.0), min(1, scale.1)) }
        // By how much the picture is still too short.
        let growth = max(
            1, Double(minimum.width) / (Double(source.width) * scale.0),
            Double(minimum.height) / (Double(source.height) * scale.1))
        if growth > 1 { scale = (scale.0 * growth, scale.1 * growth) }
        return PixelSize(width: side(source.width, scale.0), height: side(source.height, scale.1))
    }

    private func scales(of source: PixelSize) -> (across: Double, down: Double) {
        let across = Double(size.width) / Double(source.width)
        let down = Double(size.height) / Double(source.height)
        return (size.width > 0 ? across : down, size.height > 0 ? down : across)
    }

    private func scaled(
        _ image: DecodedImage, to target: PixelSize, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        try image.resampled(to: target, cancellation)
    }
}

extension Resize.Fit {
    /// What ``auto`` is for a picture and a size, one side of which may be 0.
    package func resolved(for source: PixelSize, _ size: PixelSize) -> Self {
        guard self == .auto else { return self }
        let width = size.width == 0 ? source.width : size.width
        let height = size.height == 0 ? source.height : size.height
        return (source.width >= source.height) == (width >= height) ? .cover : .inside
    }
}

extension PixelSize {
    /// The largest size of this aspect ratio within another; itself if it fits. A long side may leave 0 for the other.
    package func reduced(into whole: PixelSize) -> PixelSize {
        let across = Double(width) / Double(whole.width)
        let down = Double(height) / Double(whole.height)
        if across > down, across > 1 {
            let side = (Double(whole.width) * (Double(height) / Double(width))).rounded()
            return PixelSize(width: whole.width, height: Int(side))
        }
        if down > across, down > 1 {
            let side = (Double(whole.height) * (Double(width) / Double(height))).rounded()
            return PixelSize(width: Int(side), height: whole.height)
        }
        return self
    }

    /// A size whose sides are multiplied; 0 stays 0, and no other side becomes that.
    fileprivate func zoomed(by factor: Double) -> PixelSize {
        guard factor > 0, factor.isFinite else { return 0 }
        func side(_ length: Int) -> Int {
            length <= 0 ? length : max(1, Int(min(1e9, (Double(length) * factor).rounded())))
        }
        return PixelSize(width: side(width), height: side(height))
    }

    fileprivate func scaledUp(by factor: Double) -> PixelSize {
        func side(_ length: Int) -> Int { Int(min(1e9, (Double(length) * factor).rounded(.up))) }
        return PixelSize(width: side(width), height: side(height))
    }
}
