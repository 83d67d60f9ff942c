#if PNG
import CVips
import Pipeline

extension ImageCodec {
    /// PNG by libdeflate; rare kinds of files by libvips. The frames of an APNG are read if several are wanted, and
    /// animations are written as APNG. A load of one frame gives the picture that programs without APNG show.
    public static let png = ImageCodec(
        .png, extensions: ["png", "apng"], aliases: ["image/x-png", "image/apng", "image/vnd.mozilla.apng"],
        decoder: PNGDecoder(), encoder: PNGEncoder(),
        // An animation without loss is several times larger than a WebP or GIF.
        negotiation: Negotiation(rank: 3, needsName: false, holdsMotion: false)
    ) { $0.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) }
}

extension VipsDecoder {
    /// Decodes the kinds of PNG files that ``PNGDecoder`` leaves to libvips.
    static let png = VipsDecoder(format: .png, loader: CVIPS_PNG)
}
#endif
