public import Pipeline

/// The header of an image file, read before a pixel is decoded.
public struct ImageHeader: Sendable, Hashable {
    /// The file's format, by its bytes.
    public var format: ImageFormat
    /// The size of one frame in pixels, as it is stored.
    public var storedSize: PixelSize
    /// The largest picture that the decoder has to hold. It is ``storedSize`` unless a container and its coded image
    /// disagree.
    public var codedSize: PixelSize
    /// How the stored pixels are turned upright.
    public var orientation: ImageOrientation
    /// How many frames or pages the file has; 1 for a still picture.
    public var frames: Int
    /// How often an animation plays; 0 means forever.
    public var loopCount: Int
    /// Whether some pixel may be transparent.
    public var hasAlpha: Bool
    /// Whether the file has an ICC profile.
    package var hasProfile: Bool
    /// Bits a channel, as stored: 1 to 32.
    package var bitsPerChannel: Int
    /// The model of the stored colours; `nil`, the default, where the colour profile tells it.
    public var colors: ImageMetadata.ColorModel?
    /// The colours as numbers, if the file has them; `nil` by default. A profile may describe them too.
    public var codedColors: CodedColors?
    /// An estimate of the bytes that decoding holds besides the resulting picture, such as all coefficients of a JPEG
    /// with several scans; 0 for a decoder that works on a few rows at a time.
    public var memory: Int
    /// Whether the decoder can decode a ``region`` alone; `false` by default.
    public var readsRegions = false
    /// Whether the picture has no pixels of its own, as an SVG: it is drawn to fill the decoder's box, larger than its size
    /// too. `false` by default.
    public var isVector = false
    /// The part of the picture to decode, in upright pixels; `nil` for all of it. `Decode` sets it only for a still
    /// picture whose ``readsRegions`` is true. The decoder's box then applies to this part.
    public var region: PixelRegion?
    /// The colours from which decoding converts pixels to sRGB, whatever profile the file has; `nil` if it needn't.
    package var convertedColors: CodedColors?
    /// Bytes of the ICC profile.
    package var profileBytes = 0
    /// The colour space whose primaries the ICC profile has; `nil` for others, and without one.
    package var profileSpace: NamedColorSpace?
    /// The colour space that pixels are in once they have their profile's primaries and a curve of the library's; `nil` if
    /// none is like that.
    package var profileColors: PixelLayout.ColorSpace?
    /// Whether no number changes when pixels are in ``profileColors``, or in sRGB if that is `nil`.
    package var profileKeepsNumbers = false
    /// Whether the decoder can make 16 bits a channel of a still picture.
    package var holdsDepth = false
    /// The colour space that decoding makes the pixels of.
    package var pixelColors = PixelLayout.ColorSpace.sRGB
    /// The type of sample that decoding makes.
    package var pixelType = PixelLayout.SampleType.uint8
    /// The description of the file's gain map; `nil` without a map.
    package var gainMap: GainMapDescription.Standard?
    /// The bytes that decoding the gain map holds; 0 if the decoder can't decode it.
    package var gainMapMemory = 0
    /// Whether the gain map has one gain for all colours.
    package var gainMapIsGray = false
    /// Whether the picture is the HDR one, and the gain map leads to SDR.
    package var gainMapMakesSDR = false
    /// Whether decoding makes the gain map too.
    package var keepsGainMap = false
    /// The stage for which it doesn't; `nil` if it is for another reason.
    package var stageDroppingGainMap: String?
    /// Whether the map is then applied, to make the SDR picture of an HDR one or the other way round.
    package var appliesGainMap = false
    /// Whether it is kept with the SDR picture that it makes of an HDR one, and leads back from that.
    package var exchangesGainMap = false
    /// Whether the map was to be made but is damaged.
    package var gainMapIsDamaged = false
    /// The number of characters in a drawing's text that are drawn as boxes, since its fonts lack them.
    package var missingCharacters = 0
    /// One of them; 0 without any.
    package var missingCharacter = 0
    /// The number of pictures in a drawing that aren't drawn, since they are damaged or of formats that aren't read there.
    package var missingPictures = 0
    /// Whether the file has a manifest of its provenance (C2PA), which no new file gets.
    package var hasProvenance = false
    /// Bytes a pixel of a picture that is decoded whole before it is scaled; see ``wholeLimit``.
    package var wholeBytes = 0
    /// The largest picture, in pixels, that is decoded whole before it is scaled.
    package var wholeLimit = 0
    /// How many times more pixels than requested the decoder produces before they are scaled down.
    package var excessPixels = 1

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

    /// The upright size of the region or, without one, of the picture.
    private var decodedSize: PixelSize { region?.size ?? size }

    /// The region to decode, in stored pixels.
    var storedRegion: PixelRegion {
        region.map { orientation.stored($0, in: storedSize) } ?? PixelRegion(x: 0, y: 0, size: storedSize)
    }

    /// The part of the picture that is decoded, in shares of its sides.
    package var shownPart: GainMap.Part {
        guard let region else { return GainMap.Part() }
        let (width, height) = (Double(size.width), Double(size.height))
        return GainMap.Part(
            x: Double(region.x) / width, y: Double(region.y) / height, width: Double(region.size.width) / width,
            height: Double(region.size.height) / height)
    }

    /// The size that fits a box, in stored orientation: exactly the size that `Downscale` produces. Only a vector picture
    /// is enlarged.
    func storedSize(for box: PixelSize?) -> PixelSize {
        guard let box else { return storedRegion.size }
        let fitted = isVector ? decodedSize.scaled(into: box) : decodedSize.fitted(into: box)
        return orientation.applied(to: PixelSize(width: max(1, fitted.width), height: max(1, fitted.height)))
    }

    /// The same size, upright.
    package func size(for box: PixelSize?) -> PixelSize { orientation.applied(to: storedSize(for: box)) }

    /// The largest picture that a decoder may return for a box, upright.
    package func largestSize(for box: PixelSize?) -> PixelSize {
        let fitted = size(for: box)
        return PixelSize(width: max(decodedSize.width, fitted.width), height: max(decodedSize.height, fitted.height))
    }

    /// How many times larger than its fit into a box the picture, or its ``region``, is; 1 without a box or if it fits.
    func excess(over box: PixelSize?) -> Double {
        guard let box else { return 1 }
        let size = decodedSize
        let fitted = size.fitted(into: box)
        guard fitted.width > 0, fitted.height > 0 else { return 1 }
        return max(
            1, min(Double(size.width) / Double(fitted.width), Double(size.height) / Double(fitted.height)))
    }
}
