/// A line of a TIFF's directory (TIFF 6.0 section 2), in the byte order of Intel's processors.
struct TIFFEntry {
    let tag: Int
    /// 1 bytes, 2 text, 3 numbers of 16 bits, 4 of 32, 5 fractions of two of these, 7 whatever the tag says.
    let type: Int
    /// How many values.
    let count: Int
    let bytes: [UInt8]

    /// Numbers of 16 bits.
    static func short(_ tag: Int, _ values: [Int]) -> TIFFEntry {
        TIFFEntry(tag: tag, type: 3, count: values.count, bytes: values.flatMap { $0.littleEndian(2) })
    }

    /// Numbers of 32 bits.
    static func long(_ tag: Int, _ values: [Int]) -> TIFFEntry {
        TIFFEntry(tag: tag, type: 4, count: values.count, bytes: values.flatMap { $0.littleEndian(4) })
    }

    /// A number over 1.
    static func fraction(_ tag: Int, _ value: Int) -> TIFFEntry {
        TIFFEntry(tag: tag, type: 5, count: 1, bytes: value.littleEndian(4) + 1.littleEndian(4))
    }

    /// A text, with the zero that ends it.
    static func text(_ tag: Int, _ characters: [UInt8]) -> TIFFEntry {
        TIFFEntry(tag: tag, type: 2, count: characters.count + 1, bytes: characters + [0])
    }

    /// Bytes; 1 or 7.
    static func block(_ tag: Int, type: Int, _ bytes: [UInt8]) -> TIFFEntry {
        TIFFEntry(tag: tag, type: type, count: bytes.count, bytes: bytes)
    }
}
