public import Pipeline

/// Scales the picture to a size of its own, whatever the request's `maxPixelSize`, with a Lanczos-3 kernel.
///
/// | fit | a 400×200 picture resized to 100×100 |
/// |---|---|
/// | `.inside` | 100×50: all of it, within the size |
/// | `.outside` | 200×100: all of it, no side shorter than asked for |
/// | `.cover` | 100×100: as `.outside`, cut to the size |
/// | `.contain` | 100×100: as `.inside`, with bars at the missing edges |
/// | `.fill` | 100×100: stretched |
///
/// Where a `Resize` is the first stage after `Decode`, and the request has no `maxPixelSize`, the picture is decoded no
/// larger than this stage needs it.
///
/// - Throws: ``Pipeline/LoadError/Code/untransformable`` if a side is shorter than one pixel, or the picture too large;
///   `CancellationError`.
public struct Resize: PixelTransform, PixelSizing {
    /// What becomes of the aspect.
    public enum Fit: String, Sendable, Hashable, CaseIterable {
        /// Fits within the size; the aspect is kept.
        case inside
        /// Is no smaller than the size; the aspect is kept.
        case outside
        /// Fills the size; what is too much at two edges is cut off.
        case cover
        /// Fits within the size, and bars fill the rest.
        case contain
        /// Is stretched.
        case fill
    }

    private let size: PixelSize
    private let fit: Fit
    private let enlarges: Bool
    private let gravity: Gravity
    private let background: Colour

    /// Resizes.
    /// - Parameters:
    ///   - size: in pixels.
    ///   - fit: by default ``Fit/inside``.
    ///   - enlarges: whether a picture may get larger than it is; by default a smaller one keeps its pixels.
    ///   - gravity: what `.cover` keeps and where `.contain` puts the picture; by default the middle.
    ///   - background: the colour of `.contain`'s bars; by default white.
    public init(
        _ size: PixelSize, fit: Fit = .inside, enlarges: Bool = false, gravity: Gravity = .centre,
        background: Colour = .white
    ) {
        self.size = size
        self.fit = fit
        self.enlarges = enlarges
        self.gravity = gravity
        self.background = background
    }

    /// Resizes to a width and a height in pixels; see ``init(_:fit:enlarges:gravity:background:)``.
    public init(
        width: Int, height: Int, fit: Fit = .inside, enlarges: Bool = false, gravity: Gravity = .centre,
        background: Colour = .white
    ) {
        self.init(
            PixelSize(width: width, height: height), fit: fit, enlarges: enlarges, gravity: gravity,
            background: background)
    }

    /// Everything that was chosen.
    public var signature: String? {
        "resize(lanczos3, \(size), \(fit.rawValue), \(enlarges), \(gravity.rawValue), \(background))"
    }

    /// The size, and how it is met.
    public var parameters: String { "\(size), \(fit.rawValue)\(enlarges ? ", enlarges" : "")" }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard size.width > 0, size.height > 0 else {
            throw LoadError(.untransformable, subject: "", "No picture can have \(size) pixels.")
        }
        let scaled = try scaled(image, to: target(of: image), cancellation)
        switch fit {
        case .cover: return try Crop(size, gravity: gravity).transformed(scaled, cancellation)
        case .contain: return try Pad(to: size, gravity: gravity, colour: background).transformed(scaled, cancellation)
        case .inside, .outside, .fill: return scaled
        }
    }

    /// The box of which the picture is made `.inside` or `.outside`; what is wanted stretched has to be as large as both.
    public func neededBox(of source: PixelSize, later: PixelNeeds) -> PixelSize? {
        guard size.width > 0, size.height > 0 else { return nil }
        switch fit {
        case .inside, .contain: return size
        case .outside, .cover, .fill:
            let (across, down) = scales(of: source)
            let scale = max(across, down)
            guard scale < 1 else { return nil }
            // One side is the exact one; the other must not make the picture smaller than it.
            return PixelSize(
                width: Int((Double(source.width) * scale).rounded(.up)),
                height: Int((Double(source.height) * scale).rounded(.up)))
        }
    }

    /// The size before anything is cut off or added: that of the picture as it was before a decoder reduced it, whose
    /// rounding then doesn't show.
    private func target(of image: DecodedImage) -> PixelSize {
        let target = target(of: image.unreducedSize)
        return target.width <= image.width && target.height <= image.height ? target : self.target(of: image.size)
    }

    private func target(of source: PixelSize) -> PixelSize {
        let (across, down) = scales(of: source)
        func side(_ length: Int, _ scale: Double) -> Int {
            let scale = enlarges ? scale : min(1, scale)
            // What is larger than any picture is refused later.
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
        (Double(size.width) / Double(source.width), Double(size.height) / Double(source.height))
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
