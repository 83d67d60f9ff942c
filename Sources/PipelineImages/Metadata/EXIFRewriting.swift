import Pipeline

/// Makes the EXIF block of a new picture from that of its source.
enum EXIFRewriting {
    /// Returns the block corrected for an upright sRGB picture of this size, without the preview of the old one; empty
    /// if the block is invalid.
    static func corrected(_ exif: [UInt8], for size: PixelSize) -> [UInt8] {
        guard let block = EXIFBlock(exif) else { return [] }
        var bytes = block.bytes
        func set(_ tag: Int, to value: Int, in entries: [EXIFBlock.Entry]) {
            for entry in entries where entry.tag == tag && entry.count == 1 && [3, 4, 9].contains(entry.type) {
                put(value, at: entry.value, count: entry.type == 3 ? 2 : 4, into: &bytes, block)
            }
        }
        let (main, exposure) = (block.mainEntries, block.exposureEntries)
        set(EXIFBlock.Tag.orientation, to: 1, in: main)
        set(EXIFBlock.Tag.imageWidth, to: size.width, in: main)
        set(EXIFBlock.Tag.imageLength, to: size.height, in: main)
        set(EXIFBlock.Tag.pixelWidth, to: size.width, in: exposure)
        set(EXIFBlock.Tag.pixelHeight, to: size.height, in: exposure)
        // 1 is sRGB.
        set(EXIFBlock.Tag.colorSpace, to: 1, in: exposure)
        removePreview(from: &bytes, block)
        return bytes
    }

    /// Returns the block with the location's directory erased, and without the entries that link to it; empty if the block
    /// is damaged, since other programs may still find a location in it.
    static func withoutLocation(_ exif: [UInt8]) -> [UInt8] {
        guard let block = EXIFBlock(exif), let main = block.number(at: 4, bytes: 4),
            let count = block.number(at: main, bytes: 2)
        else { return [] }
        var bytes = block.bytes
        let end = main + 2 + 12 * count + 4
        var isDamaged = false
        func wipe(_ range: Range<Int>) {
            if range.overlaps(0..<8) || range.overlaps(main..<end) { isDamaged = true }
            for index in range.clamped(to: bytes.indices) { bytes[index] = 0 }
        }
        for link in block.mainEntries where link.tag == EXIFBlock.Tag.locationDirectory {
            guard let start = block.number(at: link.value, bytes: 4) else { continue }
            for entry in block.entries(at: start) { wipe(entry.value..<entry.value + block.length(of: entry)) }
            wipe(start..<start + 2 + 12 * (block.number(at: start, bytes: 2) ?? 0))
        }
        guard !isDamaged else { return [] }
        // The following entries and the link to the next directory move up. No offset points into a directory.
        var kept = count
        for index in (0..<count).reversed() {
            let line = main + 2 + 12 * index
            guard block.number(at: line, bytes: 2) == EXIFBlock.Tag.locationDirectory else { continue }
            guard end <= bytes.count else { return [] }
            bytes.replaceSubrange(line..<end, with: bytes[line + 12..<end] + [UInt8](repeating: 0, count: 12))
            kept -= 1
        }
        put(kept, at: main, count: 2, into: &bytes, block)
        return bytes
    }

    /// Returns a block with only the orientation; empty if it is upright.
    static func oriented(_ orientation: ImageOrientation) -> [UInt8] {
        guard orientation != .up else { return [] }
        let entry = EXIFBlock.Tag.orientation.bigEndian(2) + 3.bigEndian(2) + 1.bigEndian(4)
        return [0x4d, 0x4d, 0, 42] + 8.bigEndian(4) + 1.bigEndian(2) + entry + orientation.rawValue.bigEndian(2)
            + 0.bigEndian(2) + 0.bigEndian(4)
    }

    /// Returns a block with these texts, except `nil`; empty if all are `nil`.
    static func composed(of texts: [(tag: Int, text: [UInt8]?)]) -> [UInt8] {
        let entries = texts.compactMap { tag, text in text.map { (tag: tag, text: $0 + [0]) } }
        guard !entries.isEmpty else { return [] }
        var bytes: [UInt8] = [0x4d, 0x4d, 0, 42] + 8.bigEndian(4) + entries.count.bigEndian(2)
        var values: [UInt8] = []
        let start = bytes.count + 12 * entries.count + 4
        // The standard demands ascending tags.
        for entry in entries.sorted(by: { $0.tag < $1.tag }) {
            bytes += entry.tag.bigEndian(2) + 2.bigEndian(2) + entry.text.count.bigEndian(4)
            if entry.text.count <= 4 {
                bytes += entry.text + [UInt8](repeating: 0, count: 4 - entry.text.count)
            } else {
                bytes += (start + values.count).bigEndian(4)
                values += entry.text + (entry.text.count % 2 == 1 ? [0] : [])
            }
        }
        return bytes + 0.bigEndian(4) + values
    }

    /// Unlinks the second directory, which is the preview's, and erases its pixels.
    private static func removePreview(from bytes: inout [UInt8], _ block: EXIFBlock) {
        guard let link = block.thumbnailLink else { return }
        put(0, at: link, count: 4, into: &bytes, block)
        let entries = block.thumbnailEntries
        guard let start = block.value(EXIFBlock.Tag.thumbnailOffset, in: entries),
            let length = block.value(EXIFBlock.Tag.thumbnailLength, in: entries), start <= bytes.count
        else { return }
        let end = min(bytes.count, start + length)
        if end >= bytes.count - 1 {
            // Most cameras write the preview last.
            bytes.removeSubrange(start...)
        } else {
            for index in start..<end { bytes[index] = 0 }
        }
    }

    private static func put(_ value: Int, at offset: Int, count: Int, into bytes: inout [UInt8], _ block: EXIFBlock) {
        guard offset >= 0, offset + count <= bytes.count else { return }
        for index in 0..<count {
            let shift = 8 * (block.isBigEndian ? count - 1 - index : index)
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }
}
