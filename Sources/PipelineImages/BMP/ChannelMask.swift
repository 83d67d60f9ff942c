#if BMP
/// The bits of one channel in a pixel.
struct ChannelMask {
    private let shift: Int
    private let levels: Int

    init(_ mask: Int) {
        shift = mask == 0 ? 0 : mask.trailingZeroBitCount
        levels = mask >> shift
    }

    /// Returns the channel's level, from 0 to 255. A channel without bits is 0.
    func level(in pixel: Int) -> UInt8 {
        levels == 0 ? 0 : UInt8(clamping: ((pixel >> shift & levels) * 255 + levels / 2) / levels)
    }
}
#endif
