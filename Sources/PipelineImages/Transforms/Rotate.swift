public import Pipeline

/// Turns the picture by a quarter, a half or three quarters, clockwise. No pixel changes its colour.
///
/// - Throws: `CancellationError`.
public struct Rotate: PixelTransform, PixelSizing {
    /// How far, clockwise.
    public enum Angle: Int, Sendable, Hashable, CaseIterable {
        /// A quarter.
        case quarter = 90
        /// A half.
        case half = 180
        /// Three quarters: a quarter counterclockwise.
        case threeQuarters = 270
    }

    private let angle: Angle
    /// Where the work is done.
    public let threads: BlockingThreads

    /// Turns.
    /// - Parameters:
    ///   - angle: how far, clockwise.
    ///   - threads: where the work is done; by default threads shared by all stages, one for each core.
    public init(_ angle: Angle, threads: BlockingThreads = .decoding) {
        self.angle = angle
        self.threads = threads
    }

    /// The angle.
    public var signature: String? { "rotate(\(parameters))" }

    /// The angle.
    public var parameters: String { "\(angle.rawValue)°" }

    /// What the next stages need, turned back.
    public func neededBox(of size: PixelSize, later: PixelNeeds) -> PixelSize? {
        // Width and height change places, or not, there and back alike.
        later.box(of: orientation.applied(to: size)).map(orientation.applied(to:))
    }

    /// Makes the new pixels of every frame.
    public func transformed(_ image: DecodedImage, _ cancellation: WorkCancellation) throws -> DecodedImage {
        try image.oriented(orientation, cancellation)
    }

    private var orientation: ImageOrientation {
        switch angle {
        case .quarter: .right
        case .half: .down
        case .threeQuarters: .left
        }
    }
}

extension DecodedImage {
    /// The picture as an orientation makes it upright; its native size is turned with it.
    func oriented(_ orientation: ImageOrientation, _ cancellation: WorkCancellation) throws -> DecodedImage {
        DecodedImage(
            size: orientation.applied(to: size), layout: layout,
            frames: try newFrames(cancellation) { pixels in
                guard let start = pixels.baseAddress else { return [] }
                return try orientation.applied(
                    to: start, size: size, channels: layout.channelCount, cancellation: cancellation)
            }, loopCount: loopCount, nativeSize: orientation.applied(to: nativeSize))
    }
}
