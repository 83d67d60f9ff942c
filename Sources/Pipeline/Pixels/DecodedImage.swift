/// The pixels of an image: one frame, or several with delays, upright and immutable.
///
/// ```swift
/// let inverted = try image.withPixels { pixels in pixels.map { 255 - $0 } }
/// ```
///
/// It is never a lazy graph: when a stage returns an image, all the work of making it is done.
///
/// Two images are equal if their pixels are, with everything that says what they mean. Copies of one image share their
/// pixels, and comparing them takes no time. Comparing other images of one size reads them up to the first difference.
public struct DecodedImage: Sendable, Equatable {
    /// One frame of an animation; a still image has one.
    public struct Frame: Sendable, Hashable {
        /// `width × height × layout.bytesPerPixel` bytes, row by row from the top left, without padding.
        ///
        /// Only the image's layout says what they mean: read pixels through ``DecodedImage/withPixels(ofFrame:_:)``.
        public let bytes: [UInt8]
        /// How long the frame shows; zero in a still image.
        public let delay: Duration

        /// Makes a frame from its pixels' bytes.
        public init(pixels: [UInt8], delay: Duration = .zero) {
            bytes = pixels
            self.delay = delay
        }
    }

    /// The size of every frame, in pixels.
    public let size: PixelSize
    /// How a pixel's bytes are arranged, and what they mean.
    public private(set) var layout: PixelLayout
    /// At least one frame, all of the same size.
    public let frames: [Frame]
    /// How often an animation plays; 0 is forever.
    public let loopCount: Int
    /// The source's size in pixels after orientation, before any downscaling.
    public let nativeSize: PixelSize
    /// The part of the source that the pixels show, in pixels of ``nativeSize``, if the decoder made only what the next
    /// stage needs (``PixelSizing/neededRegion(of:later:)``); otherwise `nil`.
    public let region: PixelRegion?
    /// The size to which a stage cropped the image, as if the decoder hadn't downscaled it; `nil` if none did.
    package var croppedSize: PixelSize?
    /// The gain map that belongs to the pixels; `nil` without one. A stage that makes new pixels drops it unless it hands it
    /// on.
    public var gainMap: GainMap?

    /// Makes an image whose size is the program's own. Wrong numbers are a mistake in the program and end it. For a size
    /// that comes from a file or a message, use ``init(validating:size:layout:loopCount:nativeSize:region:)``.
    ///
    /// `nativeSize` is only needed where the source's size differs from `size`, and `region` by decoders.
    /// - Precondition: there is a frame, and each has `width × height × layout.bytesPerPixel` bytes.
    public init(
        size: PixelSize, layout: PixelLayout, frames: [Frame], loopCount: Int = 0, nativeSize: PixelSize? = nil,
        region: PixelRegion? = nil
    ) {
        let expected = size.width * size.height * layout.bytesPerPixel
        precondition(
            !frames.isEmpty && frames.allSatisfy { $0.bytes.count == expected },
            "A DecodedImage of \(size) in \(layout) needs frames of \(expected) bytes each.")
        self.size = size
        self.layout = layout
        self.frames = frames
        self.loopCount = loopCount
        self.nativeSize = nativeSize ?? size
        self.region = region
    }

    /// Makes a still image from its pixels' bytes. The size has to be the program's own, as above; for that of a file, use
    /// ``init(validating:size:layout:nativeSize:region:)``.
    /// - Precondition: there are `width × height × layout.bytesPerPixel` bytes.
    public init(
        size: PixelSize, layout: PixelLayout, pixels: [UInt8], nativeSize: PixelSize? = nil, region: PixelRegion? = nil
    ) {
        self.init(
            size: size, layout: layout, frames: [Frame(pixels: pixels)], nativeSize: nativeSize, region: region)
    }

    /// Makes an image whose size comes from data, such as a file's header. Decoders use it: a hostile file can't end the
    /// program by numbers that don't match its pixels, or whose product overflows.
    /// - Throws: `LoadError` with `undecodable` unless the size is at least 1×1, there is a frame, and each has
    ///   `width × height × layout.bytesPerPixel` bytes.
    public init(
        validating frames: [Frame], size: PixelSize, layout: PixelLayout, loopCount: Int = 0,
        nativeSize: PixelSize? = nil, region: PixelRegion? = nil
    ) throws(LoadError) {
        let (area, areaOverflows) = size.width.multipliedReportingOverflow(by: size.height)
        let (expected, overflows) = area.multipliedReportingOverflow(by: layout.bytesPerPixel)
        let wrong = frames.first { $0.bytes.count != expected }
        guard size.width > 0, size.height > 0, !areaOverflows, !overflows, !frames.isEmpty, wrong == nil else {
            let needed = areaOverflows || overflows ? "more bytes than memory can hold" : "\(expected) bytes a frame"
            throw LoadError(
                .undecodable, subject: "",
                "The pixels don't make a picture: \(size) pixels of the layout \"\(layout)\" take \(needed), and "
                    + (frames.isEmpty ? "there is no frame." : "there are \((wrong ?? frames[0]).bytes.count)."))
        }
        self.init(
            size: size, layout: layout, frames: frames, loopCount: loopCount, nativeSize: nativeSize, region: region)
    }

    /// Makes a still image whose size comes from data, such as a file's header.
    /// - Throws: `LoadError` with `undecodable` unless the size is at least 1×1 and there are
    ///   `width × height × layout.bytesPerPixel` bytes.
    public init(
        validating pixels: [UInt8], size: PixelSize, layout: PixelLayout, nativeSize: PixelSize? = nil,
        region: PixelRegion? = nil
    ) throws(LoadError) {
        try self.init(
            validating: [Frame(pixels: pixels)], size: size, layout: layout, nativeSize: nativeSize, region: region)
    }

    /// Returns the same numbers as colours of another space; grey stays sRGB's.
    package func labelled(_ space: PixelLayout.ColorSpace) -> DecodedImage {
        guard layout.colorSpace != space, layout.channelCount >= 3 else { return self }
        var image = self
        image.layout = PixelLayout(
            channelCount: layout.channelCount, hasAlpha: layout.hasAlpha, sampleType: layout.sampleType,
            colorSpace: space)
        return image
    }

    /// Returns what work makes of the numbers of the pixels, whichever colours they stand for.
    package func keepingColors(
        _ work: (DecodedImage) throws -> DecodedImage
    ) rethrows -> DecodedImage {
        try work(labelled(.sRGB)).labelled(layout.colorSpace)
    }

    /// The number of pixels in a row.
    public var width: Int { size.width }

    /// The number of rows.
    public var height: Int { size.height }

    /// Whether it has more than one frame.
    public var isAnimated: Bool { frames.count > 1 }

    /// The memory of all frames and of the gain map, in bytes.
    public var byteCount: Int { frameBytes * frames.count + (gainMap?.pixels.count ?? 0) }

    /// The bytes of one frame.
    package var frameBytes: Int { size.width * size.height * layout.bytesPerPixel }

    /// Reads a frame's pixels: one byte for each channel, row by row from the top left, without padding.
    ///
    /// - Parameters:
    ///   - index: the frame's place in ``frames``; by default the first.
    ///   - body: reads the pixels, which are valid only until it returns.
    /// - Throws: `LoadError` with `unsupportedLayout` unless the layout is ``PixelLayout/gray``, ``PixelLayout/rgb`` or
    ///   ``PixelLayout/rgba``; any error of `body`.
    public func withPixels<Result>(
        ofFrame index: Int = 0, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) throws -> Result {
        guard layout == PixelLayout.known(channelCount: layout.channelCount) else {
            throw LoadError(
                .unsupportedLayout, subject: "",
                "Pixels of the layout \"\(layout)\" can't be read as 8-bit sRGB. Convert them in an earlier stage.")
        }
        return try frames[index].bytes.withUnsafeBufferPointer(body)
    }
}
