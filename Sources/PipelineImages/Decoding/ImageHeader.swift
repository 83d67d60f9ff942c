public import Pipeline

/// What a file says of its picture before a pixel is decoded.
public struct ImageHeader: Sendable, Hashable {
    /// The file's format, by its bytes.
    public var format: ImageFormat
    /// The size of one frame in pixels, as it is stored.
    public var storedSize: PixelSize
    /// The largest picture that a decoder has to make on its way to the stored one. It is ``storedSize`` unless a
    /// container and what is coded in it disagree.
    public var codedSize: PixelSize
    /// What makes the stored pixels upright.
    public var orientation: ImageOrientation
    /// How many frames or pages the file has; 1 for a still picture.
    public var frames: Int
    /// How often an animation plays; 0 is for ever.
    public var loopCount: Int
    /// Whether some pixel may be transparent.
    public var hasAlpha: Bool
    /// Whether the file has an ICC profile of its own.
    public var hasProfile: Bool
    /// Bits a channel, as stored: 1 to 32.
    public var bitsPerChannel: Int
    /// What the stored colours are made of; `nil`, the default, where the colour profile tells that.
    public var colours: ImageMetadata.ColourModel?
    /// Bytes that decoding has to hold besides the picture it gives, as far as the header tells: of a JPEG with several
    /// scans the coefficients of the whole picture. 0 where it takes a few rows at a time.
    public var memory: Int
    /// Whether the decoder can make a ``region`` alone; `false` by default.
    public var readsRegions = false
    /// The part of the picture that is to be decoded, in upright pixels; `nil` for all of it. `Decode` sets it, and only of a
    /// still picture of which ``readsRegions`` is true: the box is then this part's.
    public var region: PixelRegion?
    /// Bytes of the ICC profile.
    package var profileBytes = 0
    /// The frames of an animation of which the decoder reads only the first; 0 for any other file.
    package var unreadFrames = 0
    /// Bytes a pixel of what is decoded as it is before it is scaled, where it has at most ``wholeLimit`` pixels.
    var wholeBytes = 0
    /// The most pixels that are decoded as they are before they are scaled.
    var wholeLimit = 0
    /// How many times more pixels than asked for the decoder makes before the rest is scaled away.
    var excessPixels = 1

    /// Describes a still picture; the rest can be set.
    public init(
        format: ImageFormat, storedSize: PixelSize, orientation: ImageOrientation = .up, frames: Int = 1,
        loopCount: Int = 0, hasAlpha: Bool = false, hasProfile: Bool = false, bitsPerChannel: Int = 8
    ) {
        self.format = format
        self.storedSize = storedSize
        self.codedSize = storedSize
        self.orientation = orientation
        self.frames = frames
        self.loopCount = loopCount
        self.hasAlpha = hasAlpha
        self.hasProfile = hasProfile
        self.bitsPerChannel = bitsPerChannel
        self.memory = 0
    }

    /// The size of one frame in pixels, upright.
    public var size: PixelSize { orientation.applied(to: storedSize) }

    /// The size of what is to be decoded, upright: the region's, or the picture's.
    private var decodedSize: PixelSize { region?.size ?? size }

    /// What is to be decoded, in stored pixels.
    var storedRegion: PixelRegion {
        region.map { orientation.stored($0, in: storedSize) } ?? PixelRegion(x: 0, y: 0, size: storedSize)
    }

    /// The size that fits a box, in stored orientation: exactly what `Downscale` makes of the picture.
    func storedSize(for box: PixelSize?) -> PixelSize {
        guard let box else { return storedRegion.size }
        let fitted = decodedSize.fitted(into: box)
        return orientation.applied(to: PixelSize(width: max(1, fitted.width), height: max(1, fitted.height)))
    }

    /// How many times larger the picture, or its ``region``, is than it has to be for a box; 1 without a box or if it fits.
    public func excess(over box: PixelSize?) -> Double {
        guard let box else { return 1 }
        let size = decodedSize
        let fitted = size.fitted(into: box)
        guard fitted.width > 0, fitted.height > 0 else { return 1 }
        return max(
            1, min(Double(size.width) / Double(fitted.width), Double(size.height) / Double(fitted.height)))
    }
}
