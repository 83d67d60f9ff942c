#if PNG
import CVips
import Pipeline

extension ImageCodec {
    /// PNG by libdeflate; rare kinds of files by libvips. Only the first frame of an APNG is read.
    public static let png = ImageCodec(
        .png, extensions: ["png", "apng"], aliases: ["image/x-png", "image/apng", "image/vnd.mozilla.apng"],
        decoder: PNGDecoder(), encoder: PNGEncoder(),
        negotiation: Negotiation(rank: 3, needsName: false, holdsMotion: false)
    ) { $0.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) }
}

extension VipsDecoder {
    /// Decodes the kinds of PNG files that ``PNGDecoder`` leaves to libvips.
    static let png = VipsDecoder(format: .png, loader: CVIPS_PNG)
}
#endif
