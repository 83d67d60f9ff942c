/// How near a picture that is reduced while it is decoded comes to the best that can be made of the source: a full decode
/// scaled with a Lanczos-3 kernel.
///
/// It says how many pixels are left for our own kernel where the format's scaled decode or means of blocks are cheaper.
public enum DecodeQuality: String, Sendable, Hashable, CaseIterable {
    /// The default. Photographs come within 54 dB (PSNR) of the best, WebP's within 52, most often nearer: no eye sees the
    /// difference.
    case quality
    /// Photographs come within 46 dB (PSNR) of the best, for up to a third less work: seen, if at all, in the finest
    /// patterns. Of a JPEG, HEIC or AVIF that holds a thumbnail of the picture's proportions, no smaller than what is wanted,
    /// the thumbnail is decoded: it is as sharp as its maker left it.
    case fast

    /// How many times the wanted size a JPEG is decoded at, at least.
    var jpegReserve: Double { self == .quality ? 2 : 1.2 }

    /// How many times the wanted size is left where blocks of pixels are averaged, at least.
    var blockReserve: Double { self == .quality ? 2.5 : 1.5 }

    /// How many times the wanted size libwebp scales to.
    var webpReserve: Double { self == .quality ? 2 : 1.5 }
}
