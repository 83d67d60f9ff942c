/// A block of EXIF metadata: a small TIFF file (CIPA DC-008 section 4.5).
struct EXIFBlock {
    private let bytes: [UInt8]
    private let isBigEndian: Bool

    /// Takes a block, with or without the "Exif" that JPEG puts before it; `nil` if it is none.
    init?(_ block: some Collection<UInt8>) {
        let prefix: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
        bytes = Array(block.starts(with: prefix) ? block.dropFirst(prefix.count) : block[...])
        if bytes.starts(with: [0x49, 0x49, 42, 0]) {
            isBigEndian = false
        } else if bytes.starts(with: [0x4d, 0x4d, 0, 42]) {
            isBigEndian = true
        } else {
            return nil
        }
    }

    /// The tag 0x0112 of the first directory; upright where it is missing or makes no sense.
    var orientation: ImageOrientation {
        guard let directory = number(at: 4, bytes: 4), let count = number(at: directory, bytes: 2) else { return .up }
        for index in 0..<count {
            let entry = directory + 2 + index * 12
            guard let tag = number(at: entry, bytes: 2) else { break }
            guard tag == 0x0112 else { continue }
            // Type 3 is a 16-bit number; it stands in the first bytes of the entry's value.
            guard number(at: entry + 2, bytes: 2) == 3, let value = number(at: entry + 8, bytes: 2) else { break }
            return ImageOrientation(rawValue: value) ?? .up
        }
        return .up
    }

    private func number(at offset: Int, bytes length: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - length else { return nil }
        let field = bytes[offset..<offset + length]
        return isBigEndian
            ? field.reduce(0) { $0 << 8 | Int($1) } : field.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
