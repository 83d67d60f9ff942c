import Pipeline
import PipelineHTTP
import PipelineImages

/// Work on a picture that needs the pictures of other sources, such as a watermark that a path names.
///
/// A dialect puts it among its stages. Before the list is used, the digest of each overlay's pixels gets into it, and so into the
/// key of the result in every cache: a changed overlay changes the picture. The pixels are loaded when the stage runs.
struct Overlaid: Stage, PixelSizing {
    /// An overlay of the list that runs.
    struct Overlay: Sendable {
        /// The digest of its pixels.
        let digest: String
        let load: @Sendable (LoadPriority) async throws -> DecodedImage
    }

    let accepts: Phases = .decoded
    let produces: Phases = .decoded
    /// The sources as the path names them.
    let sources: [String]
    /// The overlays of the list that runs; none in a plan.
    var overlays: [Overlay] = []
    private let work: @Sendable ([DecodedImage]) -> any PixelTransform
    /// The work as it is with any overlays, for its name and for the pixels that it needs.
    private let template: any PixelTransform

    /// The most pixels of an overlay: it is in memory besides the picture.
    static let maximumPixels = 4_194_304

    /// - Parameters:
    ///   - sources: The overlays.
    ///   - work: Makes the work of their pictures, which are in the same order.
    init(_ sources: [String], _ work: @escaping @Sendable ([DecodedImage]) -> any PixelTransform) {
        (self.sources, self.work) = (sources, work)
        template = work(
            sources.map { _ in DecodedImage(size: PixelSize(square: 1), layout: .rgba, pixels: [0, 0, 0, 0]) })
    }

    var signature: String? { template.signature.map { "overlaid(\(sources) \(overlays.map(\.digest)) \($0))" } }

    var parameters: String { template.parameters }

    func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? {
        (template as? any PixelSizing)?.neededBox(of: size, later: later)
    }

    func neededRegion(of size: PixelSize, later: PixelNeeds) -> (region: PixelRegion, box: PixelSize?)? {
        (template as? any PixelSizing)?.neededRegion(of: size, later: later)
    }

    func run(_ load: inout Load) async throws -> Outcome {
        var pictures: [DecodedImage] = []
        for overlay in overlays { pictures.append(try await overlay.load(load.priority)) }
        try await Chain([work(pictures)]).run(&load)
        return .done
    }
}

/// Ends a list with a digest of the picture's pixels instead of a picture.
struct DigestPixels: Stage {
    let accepts: Phases = .decoded
    let produces: Phases = .encoded

    var signature: String? { "digest" }

    func run(_ load: inout Load) async throws -> Outcome {
        guard case .decoded(let image) = load.content else { return .skipped }
        let digest = try await BlockingThreads.decoding.run(priority: load.priority) { _ in image.pixelDigest }
        load.advance(
            to: .encoded(EncodedImage(bytes: Array(digest.utf8), size: image.size, nativeSize: image.nativeSize)))
        return .done
    }
}

extension DecodedImage {
    /// Tells the first frame's pixels apart from others.
    var pixelDigest: String { "\(size) \(layout) \(BLAKE2bDigest(of: frames[0].bytes))" }
}

/// The failure of an overlay. It isn't the picture's: no fallback stands in for that, and its origin isn't blamed.
struct OverlayFailure: Error {
    let error: LoadError

    /// What the client gets.
    var problem: Problem { Problem(error).ofOverlay }
}

extension Problem {
    /// The same problem of a picture that is laid over another.
    var ofOverlay: Problem {
        var own = Problem(status, "The picture that is to lie over it failed. \(detail)", retryAfter: retryAfter)
        own.cause = cause.map { "overlay: \($0)" }
        return own
    }
}
