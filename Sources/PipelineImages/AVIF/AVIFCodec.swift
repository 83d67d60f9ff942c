#if AVIF
import Pipeline

extension ImageCodec {
    /// AVIF by libavif. Still pictures of 8 bits a channel are written by libvips, unless without loss.
    public static let avif = ImageCodec(
        .avif, extensions: ["avif", "avifs"], aliases: ["image/avif-sequence"], decoder: AVIFDecoder(),
        encoder: AVIFEncoder(), negotiation: Negotiation(rank: 0, holdsMotion: false)
    ) { HEIFBrands.codec(of: $0) == .av1 }
}
#endif
