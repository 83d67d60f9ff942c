/// Pixels: an immutable picture, or several with delays, upright and in sRGB, in memory of its own.
///
/// It is never a lazy graph: what a stage took to make it is over when the stage returns.
public struct DecodedImage: Sendable {
    /// One picture of an animation; a still image has one.
    public struct Frame: Sendable, Hashable {
        /// `width × height × layout.channels` bytes, row by row from the top left, without padding.
        public let pixels: [UInt8]
        /// How long the frame shows; zero in a still image.
        public let delay: Duration

        /// Makes a frame from its pixels.
        public init(pixels: [UInt8], delay: Duration = .zero) {
            self.pixels = pixels
            self.delay = delay
        }
    }

    /// The size of every frame, in pixels.
    public let size: PixelSize
    /// How a pixel's bytes lie.
    public let layout: PixelLayout
    /// At least one frame, all of the same size.
    public let frames: [Frame]
    /// How often an animation plays; 0 is for ever.
    public let loopCount: Int
    /// The source's size in pixels after orientation, before any downscaling.
    public let nativeSize: PixelSize

    /// Makes an image.
    ///
    /// `nativeSize` is only needed where the source's size differs from `size`.
    /// - Precondition: there is a frame, and each has `width × height × channels` bytes.
    public init(
        size: PixelSize, layout: PixelLayout, frames: [Frame], loopCount: Int = 0, nativeSize: PixelSize? = nil
    ) {
        let expected = size.width * size.height * layout.channels
        precondition(
            !frames.isEmpty && frames.allSatisfy { $0.pixels.count == expected },
            "A DecodedImage of \(size) in \(layout) needs frames of \(expected) bytes each.")
        self.size = size
        self.layout = layout
        self.frames = frames
        self.loopCount = loopCount
        self.nativeSize = nativeSize ?? size
    }

    /// Makes a still image from its pixels.
    public init(size: PixelSize, layout: PixelLayout, pixels: [UInt8], nativeSize: PixelSize? = nil) {
        self.init(size: size, layout: layout, frames: [Frame(pixels: pixels)], nativeSize: nativeSize)
    }

    /// Pixels in a row.
    public var width: Int { size.width }

    /// Rows.
    public var height: Int { size.height }

    /// The first frame's pixels.
    public var pixels: [UInt8] { frames[0].pixels }

    /// Whether it has more than one frame.
    public var isAnimated: Bool { frames.count > 1 }

    /// The memory of all frames, in bytes.
    public var byteCount: Int { size.width * size.height * layout.channels * frames.count }
}
