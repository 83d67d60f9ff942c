#if TIFF
/// The directories of a TIFF file, classic (TIFF 6.0 section 2) or BigTIFF.
enum TIFFPages {
    /// The most pages that are counted.
    static let most = 65_536

    /// The most tags that are read. libtiff's time for unknown tags grows with their square.
    static let mostTags = 512

    /// Returns how many tags the first directory has; 0 if there is none.
    static func tags(_ bytes: [UInt8]) -> Int {
        let file = Numbers(bytes)
        return file.number(file.isBig ? 8 : 4, file.isBig ? 8 : 4).flatMap { file.number($0, file.isBig ? 8 : 2) } ?? 0
    }

    /// Returns how many directories follow each other, at least 1. A cycle ends at ``most``.
    static func count(_ bytes: [UInt8]) -> Int {
        let file = Numbers(bytes)
        let (first, countLength, entryLength, linkLength) = file.isBig ? (8, 8, 20, 8) : (4, 2, 12, 4)
        var link = first
        var pages = 0
        while pages < most, let directory = file.number(link, linkLength), directory > 0,
            let entries = file.number(directory, countLength), entries <= bytes.count / entryLength
        {
            pages += 1
            link = directory + countLength + entries * entryLength
        }
        return max(1, pages)
    }

    /// Reads numbers in the file's byte order.
    private struct Numbers {
        private let bytes: [UInt8]
        private let isBigEndian: Bool

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            isBigEndian = bytes.starts(with: [0x4d, 0x4d])
        }

        /// Whether it is a BigTIFF.
        var isBig: Bool { number(2, 2) == 43 }

        func number(_ offset: Int, _ length: Int) -> Int? {
            isBigEndian
                ? bytes[...].number(at: offset, bytes: length)
                : bytes[...].littleEndianNumber(at: offset, bytes: length)
        }
    }
}
#endif
