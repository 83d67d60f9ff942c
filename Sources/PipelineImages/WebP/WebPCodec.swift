#if WebP
import Pipeline

extension ImageCodec {
    /// WebP by libwebp.
    public static let webp = ImageCodec(
        .webp, extensions: ["webp"], aliases: ["image/x-webp"], decoder: WebPDecoder(), encoder: WebPEncoder(),
        negotiation: Negotiation(rank: 1, holdsMotion: true)
    ) { $0.has("RIFF") && $0.has("WEBP", at: 8) }
}
#endif
