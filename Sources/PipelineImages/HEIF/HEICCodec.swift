#if HEIC
import Pipeline

extension ImageCodec {
    /// HEIC by libheif, read-only.
    public static let heic = ImageCodec(
        .heic, extensions: ["heic", "heif", "hif", "heics", "heifs"],
        aliases: ["image/heif", "image/heic-sequence", "image/heif-sequence"], decoder: HEICDecoder(),
        substitute: .jpeg, negotiation: nil
    ) { HEIFBrands.codec(of: $0) == .hevc }
}
#endif
