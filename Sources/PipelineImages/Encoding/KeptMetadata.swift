/// What of a source's metadata ``Encode`` writes.
///
/// What is written is true of the new picture: it is upright, so EXIF says so; its colours are sRGB, so that is the
/// profile; a preview of the old picture, which would still show what was cropped, is left out.
public enum KeptMetadata: String, Sendable, Hashable, CaseIterable {
    /// Nothing: the smallest file, and no place or name by accident.
    case none
    /// Who made it and who owns it: EXIF's Artist and Copyright.
    case copyright
    /// The colour profile, if the source has one.
    case icc
    /// EXIF, XMP and the colour profile. That includes where the picture was taken, if the source says so.
    case all
    /// The same without the GPS position. XMP that holds a position is left out as a whole.
    case noGPS = "no-gps"
}
