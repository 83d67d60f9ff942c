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
/// - Throws: ``Pipeline/LoadError/Code/untransformable`` if a side is shorter than one pixel, or the picture too large;
///   `CancellationError`.
public struct Resize: Transform, PixelTransform {
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
    let threads: BlockingThreads

    /// Resizes.
    /// - Parameters:
    ///   - size: in pixels.
    ///   - fit: by default ``Fit/inside``.
    ///   - enlarges: whether a picture may get larger than it is; by default a smaller one keeps its pixels.
    ///   - gravity: what `.cover` keeps and where `.contain` puts the picture; by default the middle.
    ///   - background: the colour of `.contain`'s bars; by default white.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(
        _ size: PixelSize, fit: Fit = .inside, enlarges: Bool = false, gravity: Gravity = .centre,
        background: Colour = .white, threads: BlockingThreads = .decoding
    ) {
        self.size = size
        self.fit = fit
        self.enlarges = enlarges
        self.gravity = gravity
        self.background = background
        self.threads = threads
    }

    /// Everything that was chosen.
    public var signature: String? {
        "resize(lanczos3, \(size), \(fit.rawValue), \(enlarges), \(gravity.rawValue), \(background))"
    }

    /// The size, and how it is met.
    public var parameters: String { "\(size), \(fit.rawValue)\(enlarges ? ", enlarges" : "")" }

    /// Resizes.
    public func apply(_ image: DecodedImage) async throws -> DecodedImage { try await applyOnThreads(image) }

    func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard size.width > 0, size.height > 0 else {
            throw LoadError(.untransformable, subject: "", "No picture can have \(size) pixels.")
        }
        let scaled = try scaled(image, to: target(of: image.size), cancellation)
        switch fit {
        case .cover: return try Crop(size, gravity: gravity).transformed(scaled, cancellation)
        case .contain: return try Pad(to: size, gravity: gravity, colour: background).transformed(scaled, cancellation)
        case .inside, .outside, .fill: return scaled
        }
    }

    /// The size before anything is cut off or added.
    func target(of source: PixelSize) -> PixelSize {
        let across = Double(size.width) / Double(source.width)
        let down = Double(size.height) / Double(source.height)
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
