public import Pipeline

/// Reduces the picture to the exact size that fits the request's `maxPixelSize`, with a Lanczos kernel.
///
/// `Decode` has often reduced the picture already; this stage does the rest. All frames of an animation are scaled.
/// Without a `maxPixelSize`, or if the picture fits, the stage is skipped. It never enlarges.
///
/// - Throws: `LoadError.Code.unsupportedLayout` unless the pixels have 8 bits a channel; `LoadError.Code.tooMuchTime` above
///   the time limit of the list's `Decode`; `CancellationError`.
public struct Downscale: Stage, PixelSizing, ColorKeeping {
    public let accepts: Phases = .decoded
    public let produces: Phases = .decoded

    private let threads: BlockingThreads

    package static let specification = StageSpecification(
        "downscale", "Scales the image to the requested size."
    ) { Downscale() }

    /// Makes the stage.
    /// - Parameter threads: Where the work runs; by default threads shared by all stages, one for each core.
    public init(threads: BlockingThreads = .decoding) { self.threads = threads }

    public var isIdempotent: Bool { true }

    public var keepsColors: Bool { true }

    public var keepsDepth: Bool { true }

    public var keepsHDR: Bool { true }

    public var keepsGainMap: Bool { true }

    /// The kernel. The size isn't included: the request's has its own place in the cache key.
    public var signature: String? { "downscale(lanczos3)" }

    /// Returns what later stages need: without a `maxPixelSize`, this stage keeps every pixel.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { later.box(of: size) }

    /// Returns what later stages need: regions are only decoded without a `maxPixelSize`.
    public func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? {
        later.region(of: size)
    }

    public var identity: StageIdentity? { StageIdentity(over: [threads]) }

    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content, let box = load.request.maxPixelSize else { return .skipped }
        let size = Self.size(of: image, in: box)
        guard size != image.size else { return .skipped }
        let scaled = try await load.work(with: size, of: image, on: threads) { try image.downscaled(to: size, $0) }
        load.advance(to: .decoded(scaled))
        return .done
    }

    /// Returns the exact size in a box. It is calculated from the native size, to avoid a decoder's rounding, or from
    /// the current size if an earlier stage changed the aspect ratio.
    static func size(of image: DecodedImage, in box: PixelSize) -> PixelSize {
        let size = image.size
        let fitted = image.unreducedSize.fitted(into: box)
        let target = fitted.width <= size.width && fitted.height <= size.height ? fitted : size.fitted(into: box)
        return PixelSize(width: max(1, target.width), height: max(1, target.height))
    }
}

extension DecodedImage {
    /// Returns every frame scaled to a size, with a Lanczos kernel.
    package func downscaled(to target: PixelSize, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard target != size else { return self }
        guard layout.colorSpace == .sRGB else {
            return try keepingColors { try $0.downscaled(to: target, cancellation) }
        }
        let frames = try resampled(to: target, cancellation).frames
        var scaled = DecodedImage(
            size: target, layout: layout, frames: frames, loopCount: loopCount, nativeSize: nativeSize, region: region)
        scaled.gainMap = gainMap
        return scaled
    }

    /// Returns every frame scaled to a size by a Lanczos-3 kernel, in floating point if it has 16 bits a channel.
    func resampled(to target: PixelSize, _ cancellation: WorkCancellation) throws -> DecodedImage {
        guard target != size else { return self }
        var scaled: DecodedImage
        if layout.isDeep {
            let resampler = DeepResampler(from: size, to: target, layout)
            scaled = try mapFrames(size: target, isOfAnyDepth: true, cancellation) {
                try resampler.scaled($0, cancellation)
            }
        } else {
            let plan = ResamplePlan(from: size, to: target, reserve: DecodeQuality.quality.blockReserve)
            scaled = try mapFrames(size: target, cancellation) { pixels in
                guard let start = pixels.baseAddress else { return [] }
                return try Resampler.scaled(start, plan, layout: layout, cancellation: cancellation)
            }
        }
        scaled.gainMap = gainMap
        return scaled
    }
}
