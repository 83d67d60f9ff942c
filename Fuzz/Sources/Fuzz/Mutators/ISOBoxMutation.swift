/// Mutates boxes of AVIF and HEIC (ISO/IEC 14496-12): removes, duplicates, replaces and renames them. The sizes of
/// enclosing boxes and the offsets of coded data are corrected.
enum ISOBoxMutation {
    private struct Box {
        let range: Range<Int>
        /// The offsets of the enclosing boxes.
        let parents: [Int]
    }

    /// The boxes that hold boxes, and the offset of the first inner box.
    private static let containers: [String: Int] = [
        "meta": 12, "iprp": 8, "ipco": 8, "iref": 12, "iinf": 14, "moov": 8, "trak": 8, "mdia": 8, "minf": 8, "stbl": 8,
        "stsd": 16, "dinf": 8, "grpl": 8, "edts": 8,
    ]

    private static let names = [
        "meta", "iprp", "ipco", "ipma", "iref", "iinf", "infe", "iloc", "pitm", "ispe", "irot", "imir", "clap", "pixi",
        "colr", "auxC", "av1C", "hvcC", "hdlr", "idat", "mdat", "dimg", "thmb", "auxl", "cdsc", "grid", "iovl", "iden",
        "av01", "hvc1", "Exif", "mime", "prem", "a1lx", "lsel", "moov", "trak", "stbl", "stsz", "stco", "stts",
    ]

    static func applies(to file: [UInt8]) -> Bool { file.count > 16 && Array(file[4..<8]) == Array("ftyp".utf8) }

    static func mutate(_ file: inout [UInt8], _ random: inout SeededNumbers) -> Bool {
        var boxes: [Box] = []
        find(in: file, 0..<file.count, parents: [], &boxes)
        guard !boxes.isEmpty else { return false }
        let box = boxes[random.below(boxes.count)]
        switch random.below(6) {
        case 0: replace(box.range, with: [], box.parents, in: &file)
        case 1: replace(box.range, with: Array(file[box.range] + file[box.range]), box.parents, in: &file)
        case 2:
            let other = boxes[random.below(boxes.count)]
            replace(box.range, with: Array(file[other.range]), box.parents, in: &file)
        case 3:
            let name = names[random.below(names.count)]
            file.replaceSubrange(box.range.lowerBound + 4..<box.range.lowerBound + 8, with: Array(name.utf8))
        case 4: file.set(random.edge(), at: box.range.lowerBound, bytes: 4)
        default:
            let bytes = [1, 2, 4][random.below(3)]
            file.set(random.edge(), at: box.range.lowerBound + 8 + random.below(box.range.count), bytes: bytes)
        }
        return true
    }

    private static func find(in file: [UInt8], _ range: Range<Int>, parents: [Int], _ boxes: inout [Box]) {
        var start = range.lowerBound
        while start + 8 <= range.upperBound, boxes.count < 500 {
            let size = file.number(at: start, bytes: 4)
            guard size >= 8, size <= range.upperBound - start else { return }
            let box = start..<start + size
            boxes.append(Box(range: box, parents: parents))
            let name = String(decoding: file[start + 4..<start + 8], as: UTF8.self)
            if let header = containers[name], size >= header, parents.count < 8 {
                find(in: file, start + header..<box.upperBound, parents: parents + [start], &boxes)
            }
            start = box.upperBound
        }
    }

    private static func replace(_ range: Range<Int>, with bytes: [UInt8], _ parents: [Int], in file: inout [UInt8]) {
        let growth = bytes.count - range.count
        for parent in parents {
            file.set(UInt32(clamping: file.number(at: parent, bytes: 4) + growth), at: parent, bytes: 4)
        }
        file.replaceSubrange(range, with: bytes)
        var boxes: [Box] = []
        find(in: file, 0..<file.count, parents: [], &boxes)
        for box in boxes where file[box.range].dropFirst(4).starts(with: "iloc".utf8) {
            moveItems(in: &file, list: box.range.lowerBound, behind: range.lowerBound, by: growth)
        }
    }

    /// Corrects the offsets of items if they have 32 bits, as in most files (section 8.11.3).
    private static func moveItems(in file: inout [UInt8], list: Int, behind place: Int, by growth: Int) {
        let version = file.number(at: list + 8, bytes: 1)
        let sizes = file.number(at: list + 12, bytes: 2)
        let (offset, length, base) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        guard version < 2, offset == 4 else { return }
        var position = list + 16
        for _ in 0..<file.number(at: list + 14, bytes: 2) where position < file.count {
            let isInFile = version == 0 || file.number(at: position + 2, bytes: 2) & 15 == 0
            position += (version == 0 ? 4 : 6) + base
            let count = file.number(at: position, bytes: 2)
            position += 2
            for _ in 0..<count where position < file.count {
                position += version == 1 ? sizes & 15 : 0
                let old = file.number(at: position, bytes: 4)
                if isInFile, old > place { file.set(UInt32(clamping: old + growth), at: position, bytes: 4) }
                position += offset + length
            }
        }
    }
}
