#if JPEGXL
import Pipeline

extension ImageCodec {
    /// JPEG XL by libjxl, read-only. Its library isn't made for hostile files, so it is only decoded in processes of its
    /// own: add it to the codecs that a `DecoderPool` isolates.
    public static let jxl = ImageCodec(
        .jxl, extensions: ["jxl"], decoder: ConfinedDecoder(JPEGXLDecoder()), negotiation: nil
    ) { JPEGXLContainer.isBare($0) || $0.starts(with: JPEGXLContainer.signature) }
}
#endif
