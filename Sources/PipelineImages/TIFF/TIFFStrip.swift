#if TIFF
/// The only strip of a TIFF that is compressed as JPEG (TIFF Technical Note 2).
struct TIFFStrip {
    /// The strip as a JPEG file, with the tables that are stored elsewhere.
    let jpeg: [UInt8]
    /// The ICC profile; empty if there is none.
    let profile: [UInt8]

    /// Returns `nil` for any other TIFF, and for colours that the JPEG doesn't describe.
    init?(_ bytes: [UInt8]) {
        guard let file = EXIFBlock(bytes) else { return nil }
        let entries = file.mainEntries
        func value(_ tag: Int) -> Int? {
            entries.first { $0.tag == tag }.flatMap { file.number(at: $0.value, bytes: $0.type == 3 ? 2 : 4) }
        }
        func count(_ tag: Int) -> Int { entries.first { $0.tag == tag }?.count ?? 0 }
        let colors = value(Tag.photometric)
        guard value(Tag.compression) == 7, value(Tag.bits) == 8, value(Tag.planes) ?? 1 == 1,
            colors == 6 && value(Tag.samples) == 3 || colors == 1 && value(Tag.samples) ?? 1 == 1,
            count(Tag.offsets) == 1, count(Tag.lengths) == 1, let offset = value(Tag.offsets),
            let length = value(Tag.lengths), offset <= bytes.count, length <= bytes.count - offset
        else { return nil }
        let strip = bytes[offset..<offset + length]
        let tables = file.data(Tag.tables, in: entries)
        guard strip.starts(with: [0xff, 0xd8]), tables.isEmpty || tables.starts(with: [0xff, 0xd8]) else { return nil }
        // Both have a start marker, and the tables an end marker.
        jpeg = tables.isEmpty ? Array(strip) : tables.dropLast(2) + strip.dropFirst(2)
        profile = file.data(EXIFBlock.Tag.profile, in: entries)
    }

    private enum Tag {
        static let bits = 0x0102
        static let compression = 0x0103
        static let photometric = 0x0106
        static let offsets = 0x0111
        static let samples = 0x0115
        static let lengths = 0x0117
        static let planes = 0x011c
        static let tables = 0x015b
    }
}
#endif
