/// How the bytes of a pixel are arranged in memory, and what they mean. Alpha comes last and is straight (not
/// premultiplied).
///
/// Stages make and read ``gray``, ``rgb`` and ``rgba``, and throw ``LoadError/Code/unsupportedLayout`` for any other. Where
/// all later stages are ``ColorKeeping``, pixels may be in another colour space than sRGB; see ``Gamut``.
public struct PixelLayout: Sendable, Hashable {
    /// The type of a sample, which is the value of one channel.
    public struct SampleType: RawRepresentable, Sendable, Hashable {
        /// The number of bits in a sample. A negative number means floating point, as in FITS (`BITPIX`).
        public let rawValue: Int8

        /// Makes a sample type from its number of bits.
        public init(rawValue: Int8) { self.rawValue = rawValue }

        /// Whole numbers from 0 to 255.
        public static let uint8 = SampleType(rawValue: 8)
        /// Whole numbers from 0 to 65535, each in two bytes in the order of the machine.
        public static let uint16 = SampleType(rawValue: 16)
    }

    /// The colours that samples stand for.
    public struct ColorSpace: RawRepresentable, Sendable, Hashable {
        /// The codes of ITU-T H.273, as AVIF and PNG have them: 256 × colour primaries + transfer characteristics.
        public let rawValue: UInt16

        /// Makes a colour space from its codes.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// sRGB (IEC 61966-2-1), and its curve for grey.
        public static let sRGB = ColorSpace(rawValue: 256 * 1 + 13)
        /// Display P3: the primaries of SMPTE EG 432-1 with sRGB's white and curve.
        public static let displayP3 = ColorSpace(rawValue: 256 * 12 + 13)
        /// The primaries of ITU-R BT.2020 with sRGB's curve.
        public static let bt2020 = ColorSpace(rawValue: 256 * 9 + 13)
        /// Adobe RGB (1998), with a power of 2.2. H.273 has no number for its primaries; 192 is this library's own, of
        /// those that are reserved.
        public static let adobeRGB = ColorSpace(rawValue: 256 * 192 + 4)
        /// HDR by perceptual quantization (ITU-R BT.2100, SMPTE ST 2084), with the primaries of BT.2020. Levels stand for
        /// light up to 10,000 cd/m². HDR comes with other primaries too.
        public static let bt2100PQ = ColorSpace(rawValue: 256 * 9 + 16)
        /// HDR by hybrid log-gamma (ITU-R BT.2100), with the primaries of BT.2020.
        public static let bt2100HLG = ColorSpace(rawValue: 256 * 9 + 18)

        /// Whether it is PQ, HLG or linear light, for which 8 bits are too few.
        package var needsDepth: Bool { [8, 16, 18].contains(rawValue & 255) }
    }

    /// A single byte, since products are copied on every memory hit.
    private let channels: UInt8
    /// Whether the last channel is alpha.
    public let hasAlpha: Bool
    /// The type of each sample.
    public let sampleType: SampleType
    /// The colours that the samples stand for.
    public let colorSpace: ColorSpace

    /// Makes a layout; by default one of 8 bits a channel in sRGB.
    public init(
        channelCount: Int, hasAlpha: Bool, sampleType: SampleType = .uint8, colorSpace: ColorSpace = .sRGB
    ) {
        channels = UInt8(clamping: channelCount)
        self.hasAlpha = hasAlpha
        self.sampleType = sampleType
        self.colorSpace = colorSpace
    }

    /// The number of samples in a pixel, alpha included; at most 255.
    public var channelCount: Int { Int(channels) }

    /// One byte: luminance.
    public static let gray = PixelLayout(channelCount: 1, hasAlpha: false)
    /// Three bytes: red, green, blue.
    public static let rgb = PixelLayout(channelCount: 3, hasAlpha: false)
    /// Four bytes: red, green, blue, alpha.
    public static let rgba = PixelLayout(channelCount: 4, hasAlpha: true)

    /// Returns the one of ``gray``, ``rgb`` and ``rgba`` with this number of channels; `nil` for any other number.
    package static func known(channelCount: Int) -> PixelLayout? {
        [gray, rgb, rgba].first { $0.channelCount == channelCount }
    }

    /// Whether samples are ``SampleType/uint16``, of grey, RGB or RGBA.
    package var isDeep: Bool {
        sampleType == .uint16
            && PixelLayout(channelCount: channelCount, hasAlpha: hasAlpha) == Self.known(channelCount: channelCount)
    }

    /// The same channels with another type of sample.
    package func with(_ type: SampleType) -> PixelLayout {
        PixelLayout(channelCount: channelCount, hasAlpha: hasAlpha, sampleType: type, colorSpace: colorSpace)
    }

    /// The number of bytes in a pixel.
    public var bytesPerPixel: Int { channelCount * ((Int(sampleType.rawValue.magnitude) + 7) / 8) }
}

extension PixelLayout: CustomStringConvertible {
    /// Such as `rgba`. The sample type and the colour space follow unless they are 8-bit sRGB.
    public var description: String {
        switch self {
        case .gray: "grey"
        case .rgb: "rgb"
        case .rgba: "rgba"
        default:
            "\(channelCount) channels\(hasAlpha ? " with alpha" : ""), sample type \(sampleType.rawValue), "
                + "colour space \(colorSpace.rawValue >> 8)/\(colorSpace.rawValue & 255)"
        }
    }
}
