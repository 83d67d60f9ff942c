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
///
/// One side may be 0, for the length that keeps the aspect ratio, whatever the fit.
///
/// If a `Resize` follows `Decode` directly and the request has no `maxPixelSize`, the picture is decoded no larger than
/// this stage needs.
///
/// - Throws: ``Pipeline/LoadError/Code/untransformable`` if a side is negative or both are 0, or the picture becomes
///   too large; `CancellationError`.
public struct Resize: PixelTransform, PixelSizing {
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
    }

    private let size: PixelSize
    private let fit: Fit
    private let enlarges: Bool
    private let gravity: Gravity
    private let background: Color

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
        .optional("background", .color, "The colour around the image for contain.", default: .white)
    ) {
        Resize(width: $0, height: $1 ?? 1_000_000, fit: $2, enlarges: $3, gravity: $4, background: $5)
    }

    /// Makes the transform.
    /// - Parameters:
    ///   - size: The size in pixels.
    ///   - fit: How the picture is fitted to the size; by default ``Fit/inside``.
    ///   - enlarges: Whether smaller pictures are enlarged; `false` by default.
    ///   - gravity: The part that `.cover` keeps, and the place of the picture with `.contain`; by default the middle.
    ///   - background: The colour of `.contain`'s bars; by default white.
    public init(
        _ size: PixelSize, fit: Fit = .inside, enlarges: Bool = false, gravity: Gravity = .center,
        background: Color = .white
    ) {
        self.size = size
        self.fit = fit
        self.enlarges = enlarges
        self.gravity = gravity
        self.background = background
    }

    /// Resizes to a width and a height in pixels; see ``init(_:fit:enlarges:gravity:background:)``.
    public init(
        width: Int, height: Int, fit: Fit = .inside, enlarges: Bool = false, gravity: Gravity = .center,
        background: Color = .white
    ) {
        self.init(
            PixelSize(width: width, height: height), fit: fit, enlarges: enlarges, gravity: gravity,
            background: background)
    }

    public var signature: String? {
        "resize(lanczos3, \(size), \(fit.rawValue), \(enlarges), \(gravity.rawValue), \(background))"
    }

    public var parameters: String { "\(size), \(fit.rawValue)\(enlarges ? ", enlarges" : "")" }

    /// The size before anything is cut off, or with the bars.
    public func largestSize(of image: DecodedImage) -> PixelSize {
        guard size.isBox else { return image.size }
        let target = target(of: image)
        guard fit == .contain, size.width > 0, size.height > 0 else { return target }
        return PixelSize(width: max(target.width, size.width), height: max(target.height, size.height))
    }

    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard size.isBox else {
            throw LoadError(.untransformable, subject: "", "No picture can have \(size) pixels.")
        }
        let scaled = try scaled(image, to: target(of: image), cancellation)
        guard size.width > 0, size.height > 0 else { return scaled }
        switch fit {
        case .cover: return try Crop(size, gravity: gravity).transformed(scaled, cancellation)
        case .contain: return try Pad(to: size, gravity: gravity, color: background).transformed(scaled, cancellation)
        case .inside, .outside, .fill: return scaled
        }
    }

    /// Returns the box that a decoder may reduce the picture to. For `.outside`, `.cover` and `.fill`, neither side may
    /// get shorter than the result's.
    public func neededBox(of source: PixelSize, later: PixelNeeds) -> PixelSize? {
        guard size.isBox else { return nil }
        switch fit {
        case .inside, .contain: return enlarges || source.fitted(into: size) != source ? size : nil
        case .outside, .cover, .fill:
            let (across, down) = scales(of: source)
            let scale = max(across, down)
            guard scale < 1 || enlarges, source.width > 0, source.height > 0 else { return nil }
            // One side is exact; the other is rounded up so that it doesn't reduce the picture further.
            return PixelSize(
                width: Int((Double(source.width) * scale).rounded(.up)),
                height: Int((Double(source.height) * scale).rounded(.up)))
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
            let scale = enlarges ? scale : min(1, scale)
            // A size beyond any picture is refused later.
            return max(1, Int(min(1e9, (Double(length) * scale).rounded())))
        }
        let scale: (Double, Double)
        switch fit {
        case .inside, .contain: scale = (min(across, down), min(across, down))
        case .outside, .cover: scale = (max(across, down), max(across, down))
        case .fill: scale = (across, down)
        }
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
        guard target != image.size else { return image }
        let plan = ResamplePlan(from: image.size, to: target, reserve: DecodeQuality.quality.blockReserve)
        return try image.mapFrames(size: target, cancellation) { pixels in
            guard let start = pixels.baseAddress else { return [] }
            return try Resampler.scaled(start, plan, layout: image.layout, cancellation: cancellation)
        }
    }
}
