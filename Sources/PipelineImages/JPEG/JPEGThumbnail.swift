import Pipeline

/// The small picture that a camera keeps in a JPEG's EXIF (CIPA DC-008 section 4.5.8).
struct JPEGThumbnail {
    /// A JPEG file of its own.
    let jpeg: [UInt8]
    /// What makes it upright, where it says so itself: most lie as their picture does.
    let orientation: ImageOrientation?
    /// The ICC profile of the picture, which holds for the thumbnail too unless it has its own.
    let profile: [UInt8]

    /// Reads the file's segments; `nil` if they hold no thumbnail. A file that is cut off has none either: its thumbnail
    /// would hide that the picture is damaged.
    init?(of bytes: [UInt8], _ cancellation: WorkCancellation) throws {
        let segments = try JPEGSegments(bytes, cancellation)
        guard let scan = segments.scan, Self.hasEnd(bytes[scan...]), let block = EXIFBlock(segments.metadata.exif)
        else { return nil }
        let entries = block.thumbnailEntries
        guard let start = block.value(EXIFBlock.Tag.thumbnailOffset, in: entries),
            let length = block.value(EXIFBlock.Tag.thumbnailLength, in: entries),
            let jpeg = block.bytes[...].slice(at: start, count: length)
        else { return nil }
        self.jpeg = Array(jpeg)
        orientation = block.value(EXIFBlock.Tag.orientation, in: entries).flatMap { ImageOrientation(rawValue: $0) }
        profile = segments.metadata.profile
    }

    /// Whether a picture ends within the last megabyte. The mark can't be among the bytes of its pixels.
    private static func hasEnd(_ bytes: ArraySlice<UInt8>) -> Bool {
        let end = bytes.suffix(1 << 20)
        return end.indices.dropFirst().reversed().contains { end[$0] == 0xd9 && end[$0 - 1] == 0xff }
    }
}
