/// Which of a source's metadata ``Encode`` writes.
///
/// The metadata is adjusted to the new picture. EXIF says that it is upright, and the profile is that of the new pixels,
/// which a picture in other colours than sRGB has in any case. A preview of the old picture is dropped, since it would still
/// show what was cropped.
///
/// Manifests of provenance (C2PA, Content Credentials) and their addresses in XMP are never kept, since they are signed
/// for the bytes of the source. ``ImageMetadata/provenance`` tells of them, and so does the trace of a decode.
public enum KeptMetadata: String, Sendable, Hashable, CaseIterable {
    /// Nothing: the smallest file, and no place or name by accident.
    case none
    /// Who made it and who owns it: EXIF's Artist and Copyright.
    case copyright
    /// The colour profile, if the source has one.
    case icc
    /// EXIF, XMP and the colour profile. That includes where the picture was taken, if the source says so.
    case all
    /// As ``all``, without the GPS position. XMP that holds a position is dropped as a whole.
    case noGPS = "no-gps"
}
