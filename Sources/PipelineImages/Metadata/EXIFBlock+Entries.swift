import Pipeline

extension EXIFBlock {
    /// One entry of a directory (TIFF 6.0 section 2).
    struct Entry {
        let tag: Int
        /// 2 is text, 3 a number of 16 bits, 4 one of 32 bits, 9 a signed one of 32 bits.
        let type: Int
        /// The number of values.
        let count: Int
        /// The offset of the first value in the block.
        let value: Int
    }

    /// The tags that are read or written here.
    enum Tag {
        static let imageWidth = 0x0100
        static let imageLength = 0x0101
        static let description = 0x010e
        static let make = 0x010f
        static let model = 0x0110
        static let orientation = 0x0112
        static let dateTime = 0x0132
        static let artist = 0x013b
        static let xmp = 0x02bc
        static let thumbnailOffset = 0x0201
        static let thumbnailLength = 0x0202
        static let copyright = 0x8298
        static let exifDirectory = 0x8769
        static let profile = 0x8773
        static let locationDirectory = 0x8825
        static let dateTimeOriginal = 0x9003
        static let offsetTimeOriginal = 0x9011
        static let makerNote = 0x927c
        static let colorSpace = 0xa001
        static let pixelWidth = 0xa002
        static let pixelHeight = 0xa003
        static let lensModel = 0xa434

        // In the location's directory.
        static let latitude = 0x0002
        static let longitude = 0x0004

        /// The tags of texts in the first directory.
        static let texts = [description, make, model, dateTime, artist, copyright]
    }

    /// Returns the valid entries of a directory; none without an offset.
    func entries(at offset: Int?) -> [Entry] {
        guard let offset, let count = number(at: offset, bytes: 2) else { return [] }
        return (0..<count).lazy.prefix { offset + 14 + $0 * 12 <= bytes.count }.compactMap {
            entry(at: offset + 2 + $0 * 12)
        }
    }

    /// The bytes of a value of each type; unknown types count as 1.
    private static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4]

    private func entry(at offset: Int) -> Entry? {
        guard let tag = number(at: offset, bytes: 2), let type = number(at: offset + 2, bytes: 2),
            let count = number(at: offset + 4, bytes: 4)
        else { return nil }
        // Up to four bytes are in the entry itself, longer values elsewhere.
        let length = (Self.sizes[type] ?? 1) * count
        let value = length <= 4 ? offset + 8 : number(at: offset + 8, bytes: 4) ?? bytes.count
        guard value <= bytes.count, length <= bytes.count - value else { return nil }
        return Entry(tag: tag, type: type, count: count, value: value)
    }

    /// The bytes of an entry's values.
    func length(of entry: Entry) -> Int { (Self.sizes[entry.type] ?? 1) * entry.count }

    /// The first directory.
    var mainEntries: [Entry] { entries(at: number(at: 4, bytes: 4)) }

    /// Where the offset of the second directory, the thumbnail's, is stored.
    var thumbnailLink: Int? {
        guard let main = number(at: 4, bytes: 4), let count = number(at: main, bytes: 2) else { return nil }
        return main + 2 + 12 * count
    }

    /// The thumbnail's directory; none without a thumbnail.
    var thumbnailEntries: [Entry] {
        guard let link = thumbnailLink, let second = number(at: link, bytes: 4), second > 0 else { return [] }
        return entries(at: second)
    }

    /// Returns an integer of 16 or 32 bits.
    func value(_ tag: Int, in entries: [Entry]) -> Int? {
        entries.first { $0.tag == tag }.flatMap { number(at: $0.value, bytes: $0.type == 3 ? 2 : 4) }
    }

    /// The directory with the exposure data.
    var exposureEntries: [Entry] {
        entries(at: mainEntries.first { $0.tag == Tag.exifDirectory }.flatMap { number(at: $0.value, bytes: 4) })
    }

    /// The most bytes of a text that are read. A hostile text may be as long as the file.
    private static let longestText = 8192

    /// Returns a text's bytes without trailing zeros and spaces; `nil` if there is none. Some programs store texts as
    /// bytes, or with an unknown type.
    func characters(_ tag: Int, in entries: [Entry]) -> [UInt8]? {
        guard let entry = entries.first(where: { $0.tag == tag }), Self.sizes[entry.type] ?? 1 == 1 else { return nil }
        let characters = bytes[entry.value..<entry.value + min(entry.count, Self.longestText)].prefix { $0 != 0 }
        return characters.lastIndex { $0 > 0x20 }.map { Array(characters[...$0]) }
    }

    /// Returns a text, as UTF-8 or else Latin-1. Control characters are removed, since it may end up on a terminal.
    func text(_ tag: Int, in entries: [Entry]) -> String? {
        guard let characters = characters(tag, in: entries) else { return nil }
        let text =
            String(validating: characters, as: UTF8.self)
            ?? String(String.UnicodeScalarView(characters.map { UnicodeScalar($0) }))
        return plainText(text)
    }

    /// Returns the raw bytes of an entry.
    func data(_ tag: Int, in entries: [Entry]) -> [UInt8] {
        guard let entry = entries.first(where: { $0.tag == tag }), [1, 7].contains(entry.type) else { return [] }
        return Array(bytes[entry.value..<entry.value + entry.count])
    }
}
