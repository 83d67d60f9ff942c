import Pipeline

/// At which scale a file is decoded for a box: first the JPEG's own, then by averaging blocks of pixels.
struct VipsScale: Equatable {
    /// libjpeg decodes at 1/shrink: 1, 2, 4 or 8.
    let shrink: Int
    /// Blocks of reduction × reduction pixels become one.
    let reduction: Int

    /// What libjpeg's scaled decode leaves in hand for the Lanczos kernel: 12 MP to 300 pixels are decoded at 1/8 and
    /// have 47 to 50 dB; at twice the size in hand it would be 1/4, 54 dB, and half as much work again.
    private static let jpegReserve = 1.5

    /// A mean of blocks is a poorer filter than libjpeg's, so that more is left to the kernel.
    private static let blockReserve = 2.0

    init(header: ImageHeader, box: PixelSize?) {
        let excess = header.excess(over: box)
        shrink = header.format == .jpeg ? [8, 4, 2].first { excess / Double($0) >= Self.jpegReserve } ?? 1 : 1
        // 255² pixels are what the sums of a block can hold.
        reduction = Int(min(255, max(1, excess / Double(shrink) / Self.blockReserve)))
    }
}
