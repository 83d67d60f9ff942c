import CImages
import Pipeline

extension ImageCodec {
    /// JPEG XL by libvips, read-only. Its library isn't made for hostile files, so it is only decoded in processes of its
    /// own: add it to the codecs that a `DecoderPool` isolates.
    public static let jxl = ImageCodec(
        .jxl, extensions: ["jxl"], decoder: ConfinedDecoder(VipsDecoder(format: .jxl, loader: CVIPS_JXL)),
        negotiation: nil
    ) {
        $0.starts(with: [0xff, 0x0a])
            || $0.starts(with: [0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a])
    }
}
