/// The quality of a picture that is reduced while it is decoded, compared with the best possible one: a full decode,
/// scaled with a Lanczos-3 kernel.
///
/// It decides how far the cheaper steps, a format's own scaled decode and block averaging, reduce the picture before
/// the Lanczos kernel does the rest.
public enum DecodeQuality: String, Sendable, Hashable, CaseIterable {
    /// The default. Photographs come within 54 dB (PSNR) of the best, WebP within 52, and most come nearer. The
    /// difference is invisible.
    case quality
    /// Photographs come within 46 dB (PSNR) of the best, for up to a third less work. The difference shows, if at all,
    /// in the finest patterns. If a JPEG, HEIC or AVIF holds a thumbnail with the picture's proportions that is large
    /// enough, the thumbnail is decoded, however sharp its maker left it.
    case fast

    /// A JPEG is decoded at no less than this multiple of the wanted size.
    var jpegReserve: Double { self == .quality ? 2 : 1.2 }

    /// Averaging blocks of pixels leaves no less than this multiple of the wanted size.
    var blockReserve: Double { self == .quality ? 2.5 : 1.5 }

    /// libwebp scales to this multiple of the wanted size.
    var webpReserve: Double { self == .quality ? 2 : 1.5 }
}
