/// Mutates directory entries of TIFF and EXIF (TIFF 6.0 section 2), so that tags, types, counts and values don't match.
enum TIFFMutation {
    private static let tags: [UInt32] = [
        254, 256, 257, 258, 259, 262, 266, 273, 274, 277, 278, 279, 282, 284, 292, 293, 317, 320, 322, 323, 324, 325,
        330, 338, 339, 347, 512, 513, 514, 519, 530, 531, 532, 700, 33723, 34377, 34665, 34675, 36867, 40962,
    ]

    static func applies(to file: [UInt8]) -> Bool { start(in: file) != nil }

    /// Returns the offset of the header: at the start of a TIFF, after "Exif" elsewhere.
    private static func start(in file: [UInt8]) -> Int? {
        func isHeader(_ offset: Int) -> Bool {
            guard offset + 8 <= file.count else { return false }
            let head = Array(file[offset..<offset + 4])
            return head == [0x49, 0x49, 42, 0] || head == [0x4d, 0x4d, 0, 42]
        }
        if isHeader(0) { return 0 }
        return (0..<min(4096, max(0, file.count - 14))).first {
            file[$0] == UInt8(ascii: "E") && Array(file[$0..<$0 + 6]) == Array("Exif".utf8) + [0, 0] && isHeader($0 + 6)
        }.map { $0 + 6 }
    }

    static func mutate(_ file: inout [UInt8], _ random: inout SeededNumbers) -> Bool {
        guard let start = start(in: file) else { return false }
        let isLittle = file[start] == 0x49
        let directory = start + file.number(at: start + 4, bytes: 4, littleEndian: isLittle)
        let count = file.number(at: directory, bytes: 2, littleEndian: isLittle)
        guard count > 0, directory + 2 + 12 <= file.count else { return false }
        let last = min(count, (file.count - directory - 2) / 12)
        let entry = directory + 2 + 12 * random.below(last)
        func set(_ number: UInt32, _ offset: Int, _ bytes: Int) {
            file.set(number, at: entry + offset, bytes: bytes, littleEndian: isLittle)
        }
        switch random.below(7) {
        case 0: set(tags[random.below(tags.count)], 0, 2)
        case 1: set(UInt32(random.below(14)), 2, 2)
        case 2: set(random.edge(), 4, 4)
        case 3: set(random.edge(), 8, 4)
        case 4: set(random.edge(), 8, 2)
        case 5:
            let other = directory + 2 + 12 * random.below(last)
            let (first, second) = (Array(file[entry..<entry + 12]), Array(file[other..<other + 12]))
            file.replaceSubrange(entry..<entry + 12, with: second)
            if random.below(2) == 0 { file.replaceSubrange(other..<other + 12, with: first) }
        default:
            // The link to the next directory, which may become this one.
            let next = directory + 2 + 12 * last
            let target = random.below(2) == 0 ? UInt32(clamping: directory - start) : random.edge()
            file.set(target, at: next, bytes: 4, littleEndian: isLittle)
        }
        return true
    }
}
