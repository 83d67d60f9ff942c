/// The directories of a TIFF file, classic (TIFF 6.0 section 2) or BigTIFF.
enum TIFFPages {
    /// More pages than this aren't counted.
    static let most = 65_536

    /// More tags than this aren't read: libtiff's time for those that it doesn't know grows with their square.
    static let mostTags = 512

    /// How many tags the first directory has; 0 if there is none.
    static func tags(_ bytes: [UInt8]) -> Int {
        let isBigEndian = bytes.starts(with: [0x4d, 0x4d])
        func number(_ offset: Int, _ length: Int) -> Int? {
            isBigEndian
                ? bytes[...].number(at: offset, bytes: length)
                : bytes[...].littleEndianNumber(at: offset, bytes: length)
        }
        let isBig = number(2, 2) == 43
        return number(isBig ? 8 : 4, isBig ? 8 : 4).flatMap { number($0, isBig ? 8 : 2) } ?? 0
    }

    /// How many directories follow each other, at least 1. One that points back at another ends the file at ``most``.
    static func count(_ bytes: [UInt8]) -> Int {
        let isBigEndian = bytes.starts(with: [0x4d, 0x4d])
        func number(_ offset: Int, _ length: Int) -> Int? {
            isBigEndian
                ? bytes[...].number(at: offset, bytes: length)
                : bytes[...].littleEndianNumber(at: offset, bytes: length)
        }
        let isBig = number(2, 2) == 43
        let (first, countLength, entryLength, linkLength) = isBig ? (8, 8, 20, 8) : (4, 2, 12, 4)
        var link = first
        var pages = 0
        while pages < most, let directory = number(link, linkLength), directory > 0,
            let entries = number(directory, countLength), entries <= bytes.count / entryLength
        {
            pages += 1
            link = directory + countLength + entries * entryLength
        }
        return max(1, pages)
    }
}
