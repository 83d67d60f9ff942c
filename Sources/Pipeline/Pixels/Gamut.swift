/// The colours in which a list has its pixels.
///
/// Without a choice, lists that end in a file's bytes keep the source's colours as long as each stage and the file's
/// format can, and all others convert to sRGB.
public enum Gamut: String, Sendable, Hashable, CaseIterable {
    /// All pixels are sRGB's, and SDR. Colours that it lacks are clipped, channel by channel, as by ICC's relative colorimetric
    /// intent.
    case sRGB = "srgb"
    /// Pixels stay in the source's colour space if a ``PixelLayout/ColorSpace`` names it and every later stage is
    /// ``ColorKeeping``; otherwise they become sRGB's.
    case source
}
