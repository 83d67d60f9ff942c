#if AVIF
/// Writes into an AVIF sequence how often it plays, as an edit that repeats until its track ends (ISO/IEC 14496-12
/// section 8.6.6). libavif does so only from version 1.0 on, and then for sequences that play forever unless it is told
/// otherwise, which its version 0.11 can't be; that edit is replaced.
struct AVIFLoops {
    /// How often it plays; 0 means forever.
    private let count: Int
    /// The bytes of an `edts` box with one edit.
    private static let editSize = 44

    init(_ count: Int) { self.count = count }

    /// Returns the file with an edit list in each track. A file without a movie, or with lists of another length than one
    /// edit's, is returned unchanged.
    func added(to file: [UInt8]) -> [UInt8] {
        var budget = 10_000
        let parts = ISOBox.boxes(in: file[...], budget: &budget)
        guard let movie = parts.first(where: { $0.type == "moov" }) else { return file }
        let tracks = ISOBox.boxes(in: movie.content, budget: &budget).filter { $0.type == "trak" }
        let edits = tracks.compactMap { track in
            ISOBox.boxes(in: track.content, budget: &budget).first { $0.type == "edts" }
        }
        guard edits.isEmpty else {
            // The list's only edit has version 1: its duration has 8 bytes.
            guard edits.count == tracks.count,
                edits.allSatisfy({ $0.content.count == Self.editSize - 8 && $0.content.number(at: 8, bytes: 1) == 1 }),
                let duration = edits[0].content.number(at: 16, bytes: 8)
            else { return file }
            return parts.flatMap { rewritten($0, duration: duration, added: 0) }
        }
        let added = tracks.count * Self.editSize
        return parts.flatMap { rewritten($0, duration: nil, added: added) }
    }

    /// Returns a box with its changes. `added` bytes are inserted before all pixels.
    private func rewritten(_ box: ISOBox, duration: Int?, added: Int) -> [UInt8] {
        func children(_ content: ArraySlice<UInt8>, duration: Int?) -> [UInt8] {
            var budget = 10_000
            return ISOBox.boxes(in: content, budget: &budget).flatMap {
                rewritten($0, duration: duration, added: added)
            }
        }
        var content = Array(box.content)
        switch box.type {
        case "moov":
            // libavif's tracks all last as long as the movie, whose header comes first.
            content = children(box.content, duration: duration ?? movieDuration(box.content))
        case "edts": return edit(duration ?? 0)
        case "trak" where added == 0: content = children(box.content, duration: duration)
        case "trak":
            let header = ISOBox.size(of: box.content)
            content =
                children(box.content.prefix(header), duration: duration) + edit(duration ?? 0)
                + children(box.content.dropFirst(header), duration: duration)
        case "mdia": return box.movingChunks(by: added)
        case "meta": content = content.prefix(4) + children(box.content.dropFirst(4), duration: duration)
        case "mvhd": setDuration(&content, at: content.first == 1 ? 24 : 16, duration)
        case "tkhd": setDuration(&content, at: content.first == 1 ? 28 : 20, duration)
        case "iloc": moveItems(&content, by: added)
        default: break
        }
        return ISOBox.bytes(box.type, content)
    }

    private func movieDuration(_ movie: ArraySlice<UInt8>) -> Int {
        var budget = 100
        guard let header = ISOBox.boxes(in: movie, budget: &budget).first(where: { $0.type == "mvhd" })?.content else {
            return 0
        }
        let isLong = header.first == 1
        return header.number(at: isLong ? 24 : 16, bytes: isLong ? 8 : 4) ?? 0
    }

    private func edit(_ duration: Int) -> [UInt8] {
        let flags: UInt8 = count == 1 ? 0 : 1
        let list = [1, 0, 0, flags] + Int(1).bigEndian(4) + duration.bigEndian(8) + Int(0).bigEndian(8) + [0, 1, 0, 0]
        return ISOBox.bytes("edts", ISOBox.bytes("elst", list))
    }

    private func setDuration(_ content: inout [UInt8], at offset: Int, _ duration: Int?) {
        guard let duration else { return }
        let length = content.first == 1 ? 8 : 4
        guard offset + length <= content.count else { return }
        let (total, overflows) = duration.multipliedReportingOverflow(by: max(1, count))
        let isEndless = count == 0 || overflows || total >> (length == 8 ? 62 : 32) != 0
        let value = isEndless ? [UInt8](repeating: 255, count: length) : total.bigEndian(length)
        content.replaceSubrange(offset..<offset + length, with: value)
    }

    /// Moves the items' locations (section 8.11.3), which libavif writes as 4-byte offsets from the start of the file.
    private func moveItems(_ content: inout [UInt8], by added: Int) {
        let bytes = content[...]
        guard bytes.first == 0, bytes.number(at: 4, bytes: 2) == 0x4400, let items = bytes.number(at: 6, bytes: 2)
        else {
            return
        }
        var position = 8
        for _ in 0..<items {
            guard let extents = bytes.number(at: position + 4, bytes: 2) else { return }
            position += 6
            for _ in 0..<extents {
                content.add(added, at: position)
                position += 8
            }
        }
    }
}

extension ISOBox {
    /// The length of the first of some boxes.
    fileprivate static func size(of boxes: ArraySlice<UInt8>) -> Int { boxes.number(at: 0, bytes: 4) ?? 0 }
}
#endif
