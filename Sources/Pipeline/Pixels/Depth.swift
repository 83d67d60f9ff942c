/// How many bits a channel of the pixels of a list has.
///
/// Without a choice, lists that end in a file's bytes keep 16 bits as long as each stage and the file's format can, and
/// all others have 8.
public enum Depth: String, Sendable, Hashable, CaseIterable {
    /// 8 bits a channel.
    case eight = "8"
    /// 16 bits if the source has more than 8, no colour has to be converted, and every later stage keeps depth
    /// (``ColorKeeping/keepsDepth``); otherwise 8. With ``Gamut/source``, HDR stays HDR if every later stage keeps it
    /// (``ColorKeeping/keepsHDR``).
    case source
}
