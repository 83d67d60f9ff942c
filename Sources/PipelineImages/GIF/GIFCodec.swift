#if GIF
import Pipeline

extension ImageCodec {
    /// GIF.
    public static let gif = ImageCodec(
        .gif, extensions: ["gif"], decoder: GIFDecoder(), encoder: GIFEncoder(),
        negotiation: Negotiation(rank: 4, needsName: false, holdsStills: false, holdsMotion: true)
    ) { $0.has("GIF87a") || $0.has("GIF89a") }
}
#endif
