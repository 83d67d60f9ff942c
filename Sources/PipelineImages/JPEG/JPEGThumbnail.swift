import Pipeline

/// The thumbnail that a camera stores in a JPEG's EXIF (CIPA DC-008 section 4.5.8).
struct JPEGThumbnail {
    /// The thumbnail as a JPEG file.
    let jpeg: [UInt8]
    /// How it is turned upright; `nil`, as in most files, if it has the picture's orientation.
    let orientation: ImageOrientation?
    /// The ICC profile of the picture, which applies to a thumbnail without its own.
    let profile: [UInt8]

    /// Reads the file's segments; `nil` if they hold no thumbnail. A truncated file counts as having none, since its
    /// thumbnail would hide the damage.
    init?(of bytes: [UInt8], _ cancellation: WorkCancellation) throws {
        let segments = try JPEGSegments(bytes[...], cancellation)
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

    /// Whether a picture ends within the last megabyte. Its end marker can't occur in the compressed pixels.
    private static func hasEnd(_ bytes: ArraySlice<UInt8>) -> Bool {
        let end = bytes.suffix(1 << 20)
        return end.indices.dropFirst().reversed().contains { end[$0] == 0xd9 && end[$0 - 1] == 0xff }
    }
}
