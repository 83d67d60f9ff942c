/// A block of EXIF metadata: a small TIFF file (CIPA DC-008 section 4.5).
struct EXIFBlock {
    let bytes: [UInt8]
    let isBigEndian: Bool

    /// Takes a block, with or without the "Exif" that precedes it in JPEG. Returns `nil` if it isn't one.
    init?(_ block: some Collection<UInt8>) {
        let prefix: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
        let content = block.starts(with: prefix) ? block.dropFirst(prefix.count) : block[...]
        if content.starts(with: [0x49, 0x49, 42, 0]) {
            isBigEndian = false
        } else if content.starts(with: [0x4d, 0x4d, 0, 42]) {
            isBigEndian = true
        } else {
            return nil
        }
        bytes = Array(content)
    }

    /// The tag 0x0112 of the first directory; upright if it is missing or invalid.
    var orientation: ImageOrientation {
        // The standard demands 16 bits. Some programs write 32 bits, signed or unsigned.
        guard let entry = entries(at: number(at: 4, bytes: 4)).first(where: { $0.tag == 0x0112 }),
            let length = [3: 2, 4: 4, 9: 4][entry.type], let value = number(at: entry.value, bytes: length)
        else { return .up }
        return ImageOrientation(rawValue: value) ?? .up
    }

    /// Reads a number in the block's byte order; `nil` past the end.
    func number(at offset: Int, bytes length: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - length else { return nil }
        let field = bytes[offset..<offset + length]
        return isBigEndian
            ? field.reduce(0) { $0 << 8 | Int($1) } : field.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
