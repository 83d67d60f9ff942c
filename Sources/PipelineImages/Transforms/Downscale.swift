public import Pipeline

/// Makes the pixels fit the request's `maxPixelSize` exactly, with a Lanczos kernel; nothing is ever enlarged.
///
/// `Decode` has left the picture no larger than need be, often by far; this stage does the rest. All frames of an
/// animation are scaled. Without a `maxPixelSize`, or if the picture fits, there is nothing to do.
///
/// - Throws: `LoadError.Code.unsupportedLayout` unless the pixels are 8-bit sRGB; `LoadError.Code.tooMuchTime` above the
///   time limit of the list's `Decode`; `CancellationError`.
public struct Downscale: Stage, PixelSizing {
    /// Pixels.
    public let accepts: Phases = .decoded
    /// Pixels again.
    public let produces: Phases = .decoded

    private let threads: BlockingThreads

    /// Makes the stage.
    /// - Parameter threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(threads: BlockingThreads = .decoding) { self.threads = threads }

    /// The kernel; the size is the request's and has its own place in the key.
    public var signature: String? { "downscale(lanczos3)" }

    /// What the next stages need: without a `maxPixelSize` this one keeps every pixel.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? { later.box(of: size) }

    /// What the next stages need: where a part is decoded, there is no `maxPixelSize`.
    public func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? {
        later.region(of: size)
    }

    /// Scales.
    public func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content, let box = load.request.maxPixelSize else { return .skipped }
        let size = Self.size(of: image, in: box)
        guard size != image.size else { return .skipped }
        let limited = load.limitingTime
        let scaled = try await threads.run(priority: load.priority) { cancellation in
            try Self.scaled(image, to: size, limited(cancellation))
        }
        load.advance(to: .decoded(scaled))
        return .done
    }

    /// The exact size in a box: the native size's fit, so that a decoder's rounding doesn't show; the fit of the pixels
    /// themselves if an earlier stage gave them another aspect.
    static func size(of image: DecodedImage, in box: PixelSize) -> PixelSize {
        let size = image.size
        let fitted = image.unreducedSize.fitted(into: box)
        let target = fitted.width <= size.width && fitted.height <= size.height ? fitted : size.fitted(into: box)
        return PixelSize(width: max(1, target.width), height: max(1, target.height))
    }

    private static func scaled(
        _ image: DecodedImage, to size: PixelSize, _ cancellation: WorkCancellation
    ) throws -> DecodedImage {
        let plan = ResamplePlan(from: image.size, to: size, reserve: DecodeQuality.quality.blockReserve)
        let frames = try image.newFrames(cancellation) { pixels in
            guard let start = pixels.baseAddress else { return [] }
            return try Resampler.scaled(start, plan, layout: image.layout, cancellation: cancellation)
        }
        return DecodedImage(
            size: size, layout: image.layout, frames: frames, loopCount: image.loopCount, nativeSize: image.nativeSize)
    }
}
