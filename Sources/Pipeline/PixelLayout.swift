/// How the bytes of a pixel lie in memory, and what they mean. Alpha is straight (not premultiplied).
///
/// Stages make and read ``grey``, ``rgb`` and ``rgba``, and throw ``LoadError/Code/unsupportedLayout`` for any other.
public struct PixelLayout: Sendable, Hashable {
    /// The channels of a pixel, in the order of their bits.
    public struct Channels: OptionSet, Sendable, Hashable {
        /// One bit for each channel.
        public let rawValue: UInt16

        /// Makes a set of channels from their bits.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Luminance.
        public static let grey = Channels(rawValue: 1)
        /// Red, green and blue.
        public static let rgb = Channels(rawValue: 2 + 4 + 8)
        /// Alpha.
        public static let alpha = Channels(rawValue: 16)
        /// Red, green, blue and alpha.
        public static let rgba: Channels = [.rgb, .alpha]
    }

    /// The type of a sample: the value of one channel.
    public struct SampleType: RawRepresentable, Sendable, Hashable {
        /// Bits of a sample. A negative number means floating point, as in FITS (`BITPIX`).
        public let rawValue: Int8

        /// Makes a sample type from its number of bits.
        public init(rawValue: Int8) { self.rawValue = rawValue }

        /// Whole numbers from 0 to 255.
        public static let uint8 = SampleType(rawValue: 8)
    }

    /// The colours that samples stand for.
    public struct ColourSpace: RawRepresentable, Sendable, Hashable {
        /// The codes of ITU-T H.273, as AVIF and PNG have them: 256 × colour primaries + transfer characteristics.
        public let rawValue: UInt16

        /// Makes a colour space from its codes.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// sRGB (IEC 61966-2-1), and its curve for grey.
        public static let sRGB = ColourSpace(rawValue: 256 * 1 + 13)
    }

    /// Which channels a pixel has.
    public let channels: Channels
    /// The type of each sample.
    public let sampleType: SampleType
    /// The colours that the samples stand for.
    public let colourSpace: ColourSpace

    /// Makes a layout; by default one of 8 bits a channel in sRGB.
    public init(_ channels: Channels, sampleType: SampleType = .uint8, colourSpace: ColourSpace = .sRGB) {
        self.channels = channels
        self.sampleType = sampleType
        self.colourSpace = colourSpace
    }

    /// Returns the layout of 8-bit sRGB with a number of channels; `nil` unless that is 1, 3 or 4.
    package init?(channelCount: Int) {
        guard let layout = [Self.grey, .rgb, .rgba].first(where: { $0.channelCount == channelCount }) else {
            return nil
        }
        self = layout
    }

    /// One byte: luminance.
    public static let grey = PixelLayout(.grey)
    /// Three bytes: red, green, blue.
    public static let rgb = PixelLayout(.rgb)
    /// Four bytes: red, green, blue, alpha.
    public static let rgba = PixelLayout(.rgba)

    /// Samples of a pixel.
    public var channelCount: Int { channels.rawValue.nonzeroBitCount }

    /// Bytes of a pixel.
    public var bytesPerPixel: Int { channelCount * ((Int(sampleType.rawValue.magnitude) + 7) / 8) }

    /// Whether a pixel has an alpha channel.
    public var hasAlpha: Bool { channels.contains(.alpha) }
}

extension PixelLayout: CustomStringConvertible {
    /// Such as `rgba`. The sample type and the colour space follow unless they are 8-bit sRGB.
    public var description: String {
        let names: [Channels: String] = [.grey: "grey", .rgb: "rgb", .rgba: "rgba"]
        let name = names[channels] ?? "channels \(channels.rawValue)"
        guard self != PixelLayout(channels) else { return name }
        let colours = "\(colourSpace.rawValue >> 8)/\(colourSpace.rawValue & 255)"
        return "\(name), sample type \(sampleType.rawValue), colour space \(colours)"
    }
}
