#if AVIF || HEIC
import Pipeline

/// One coded picture of a HEIF file: a whole picture, a tile of a grid, or transparency.
struct HEIFCodedItem {
    enum Codec: String {
        case av1 = "av01"
        case hevc = "hvc1"

        /// The property that configures the decoder.
        var configuration: String { self == .av1 ? "av1C" : "hvcC" }

        /// Whether pictures with the content of that property are greyscale.
        func isMonochrome(_ configuration: ArraySlice<UInt8>) -> Bool {
            switch self {
            case .av1: (configuration.number(at: 2, bytes: 1) ?? 0) & 0x10 != 0
            case .hevc: (configuration.number(at: 16, bytes: 1) ?? 1) & 3 == 0
            }
        }
    }

    let id: Int
    let codec: Codec
    let configuration: ArraySlice<UInt8>
    /// The size that the container states.
    let size: PixelSize
    /// The sizes that the bitstream states, if any: what the decoder holds, and what it returns.
    let coded: PixelSize?
    let shown: PixelSize?
    /// How many pictures are decoded for it.
    let frames: Int
    /// The properties that select a layer: `a1op`, `lsel`, `a1lx`.
    let layers: [ISOBox]
    /// The ranges of the file that it consists of.
    let extents: [Range<Int>]

    /// Bits a channel (AV1 ISOBMFF section 2.3.3, ISO/IEC 14496-15 section 8.3.3.1).
    var bits: Int {
        switch codec {
        case .av1:
            let flags = configuration.number(at: 2, bytes: 1) ?? 0
            return flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12
        case .hevc: return ((configuration.number(at: 17, bytes: 1) ?? 0) & 7) + 8
        }
    }

    /// Whether it is greyscale.
    var isMonochrome: Bool { codec.isMonochrome(configuration) }

    /// Bytes a pixel of all planes together.
    var planeBytes: Int { (bits > 8 ? 2 : 1) * (isMonochrome ? 1 : 3) }

    /// The pixels of all pictures decoded for it, or `Int.max` on overflow.
    var pixels: Int {
        let one = (PixelSize.larger(coded, size) ?? size).bytes(1)
        let (all, overflows) = one.multipliedReportingOverflow(by: max(1, frames))
        return overflows ? .max : all
    }
}
#endif
