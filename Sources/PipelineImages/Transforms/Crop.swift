public import Pipeline

/// Cuts a rectangle out of the picture.
///
/// ```swift
/// Crop(x: 10, y: 20, width: 300, height: 200)                    // of the pixels as they are at this place in the list
/// Crop(PixelSize(square: 200))                                   // the middle
/// Crop(PixelSize(square: 200), focalPoint: (x: 0.3, y: 0.25))    // around a face
/// Crop(PixelSize(square: 200), by: .attention)                   // where there is something to be seen
/// ```
///
/// A thumbnail that fills its frame with what matters is `Resize(size, fit: .outside)` with such a crop after it. Of an
/// animation all frames are cut alike, where they have the most together.
///
/// What lies outside the picture is cut off: the result may be smaller than asked for, but never empty.
///
/// - Throws: ``Pipeline/LoadError/Code/untransformable`` if the rectangle lies outside the picture;
///   `CancellationError`.
public struct Crop: PixelTransform {
    private enum Region: Sendable {
        case rectangle(x: Int, y: Int, PixelSize)
        case gravity(PixelSize, Gravity)
        case focalPoint(PixelSize, x: Double, y: Double)
        case interest(PixelSize, Interest)
    }

    private let region: Region
    /// Where the work is done.
    public let threads: BlockingThreads

    /// Cuts out a rectangle.
    /// - Parameters:
    ///   - x: how many pixels lie to its left.
    ///   - y: how many pixels lie above it.
    ///   - width: in pixels.
    ///   - height: in pixels.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(x: Int, y: Int, width: Int, height: Int, threads: BlockingThreads = .decoding) {
        region = .rectangle(x: x, y: y, PixelSize(width: width, height: height))
        self.threads = threads
    }

    /// Cuts out a rectangle of a size.
    /// - Parameters:
    ///   - size: in pixels; a side that is longer than the picture's is as long as the picture's.
    ///   - gravity: where it lies; by default in the middle.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(_ size: PixelSize, gravity: Gravity = .centre, threads: BlockingThreads = .decoding) {
        region = .gravity(size, gravity)
        self.threads = threads
    }

    /// Cuts out a rectangle of a size around a point, as near to it as the picture's edges allow.
    /// - Parameters:
    ///   - size: in pixels; a side that is longer than the picture's is as long as the picture's.
    ///   - focalPoint: what matters, from (0, 0), the left upper corner, to (1, 1), the right lower one.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(_ size: PixelSize, focalPoint: (x: Double, y: Double), threads: BlockingThreads = .decoding) {
        region = .focalPoint(size, x: focalPoint.x, y: focalPoint.y)
        self.threads = threads
    }

    /// Cuts out the rectangle of a size in which there is the most to be seen.
    /// - Parameters:
    ///   - size: in pixels; a side that is longer than the picture's is as long as the picture's.
    ///   - interest: what counts.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(_ size: PixelSize, by interest: Interest, threads: BlockingThreads = .decoding) {
        region = .interest(size, interest)
        self.threads = threads
    }

    /// The rectangle.
    public var signature: String? { "crop(\(parameters))" }

    /// The rectangle.
    public var parameters: String {
        switch region {
        case .rectangle(let x, let y, let size): "x: \(x), y: \(y), \(size)"
        case .gravity(let size, let gravity): "\(size), \(gravity.rawValue)"
        case .focalPoint(let size, let x, let y): "\(size), around \(x), \(y)"
        case .interest(let size, let interest): "\(size), by \(interest.rawValue)"
        }
    }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        let (x, y, size) = try rectangle(in: image, cancellation)
        // Far outside, sums of these could overflow.
        let (left, top) = (max(0, min(x, image.width)), max(0, min(y, image.height)))
        let right = max(left, min(image.width, x.addingReportingOverflow(size.width).partialValue))
        let bottom = max(top, min(image.height, y.addingReportingOverflow(size.height).partialValue))
        guard left < right, top < bottom else {
            throw LoadError(
                .untransformable, subject: "",
                "The rectangle \(parameters) lies outside the picture of \(image.size); crop less, or elsewhere.")
        }
        let channels = image.layout.channelCount
        return try image.mapFrames(size: PixelSize(width: right - left, height: bottom - top), cancellation) { pixels in
            var result: [UInt8] = []
            result.reserveCapacity((right - left) * (bottom - top) * channels)
            for row in top..<bottom {
                if row % 64 == 0 { try cancellation.check() }
                let start = row * image.width * channels
                result.append(contentsOf: pixels[start + left * channels..<start + right * channels])
            }
            return result
        }
    }

    private func rectangle(
        in image: DecodedImage, _ cancellation: WorkCancellation
    ) throws -> (x: Int, y: Int, PixelSize) {
        let area = image.size
        switch region {
        case .rectangle(let x, let y, let size): return (x, y, size)
        case .gravity(let size, let gravity):
            let size = inside(size, area)
            let origin = gravity.origin(of: size, in: area)
            return (origin.x, origin.y, size)
        case .focalPoint(let size, let x, let y):
            let size = inside(size, area)
            func start(_ point: Double, _ length: Int, _ whole: Int) -> Int {
                let point = point.isFinite ? min(1, max(0, point)) : 0.5
                return min(whole - length, max(0, Int((point * Double(whole) - Double(length) / 2).rounded())))
            }
            return (start(x, size.width, area.width), start(y, size.height, area.height), size)
        case .interest(let size, let interest):
            let size = inside(size, area)
            // Nothing of no size can be interesting; where it lies is for the caller to refuse.
            guard size.width > 0, size.height > 0, size != area else { return (0, 0, size) }
            let origin = try InterestMap(of: image, by: interest, cancellation).best(size, in: area)
            return (origin.x, origin.y, size)
        }
    }

    private func inside(_ size: PixelSize, _ area: PixelSize) -> PixelSize {
        PixelSize(width: min(size.width, area.width), height: min(size.height, area.height))
    }
}
