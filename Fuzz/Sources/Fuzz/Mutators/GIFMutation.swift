/// Mutates blocks of a GIF (GIF89a section 12): removes, duplicates and replaces frames and extensions, and moves
/// frames.
enum GIFMutation {
    static func applies(to file: [UInt8]) -> Bool { file.count > 13 && Array(file[..<4]) == Array("GIF8".utf8) }

    static func mutate(_ file: inout [UInt8], _ random: inout SeededNumbers) -> Bool {
        let blocks = blocks(of: file)
        guard !blocks.isEmpty else { return false }
        let block = blocks[random.below(blocks.count)]
        switch random.below(6) {
        case 0: file.removeSubrange(block)
        case 1: file.insert(contentsOf: file[block], at: block.upperBound)
        case 2: file.replaceSubrange(block, with: Array(file[blocks[random.below(blocks.count)]]))
        case 3: file.set(random.edge(), at: 6 + 2 * random.below(2), bytes: 2, littleEndian: true)
        case 4:
            // A frame's place and size, or an extension's first bytes.
            file.set(random.edge(), at: block.lowerBound + 1 + 2 * random.below(4), bytes: 2, littleEndian: true)
        default: file.set(random.edge(), at: block.lowerBound + random.below(block.count), bytes: 1)
        }
        return true
    }

    private static func blocks(of file: [UInt8]) -> [Range<Int>] {
        var blocks: [Range<Int>] = []
        var position = 13 + (file[10] & 0x80 != 0 ? 3 << (Int(file[10] & 7) + 1) : 0)
        while position + 10 < file.count, blocks.count < 500 {
            let start = position
            switch file[position] {
            case 0x21: position += 2
            case 0x2c:
                let flags = file[position + 9]
                position += 11 + (flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0)
            default: return blocks
            }
            while position < file.count, file[position] > 0 { position += 1 + Int(file[position]) }
            position += 1
            guard position <= file.count else { return blocks }
            blocks.append(start..<position)
        }
        return blocks
    }
}
