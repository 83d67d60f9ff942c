/// A box of the ISO base media file format (ISO/IEC 14496-12 section 4.2): a type and its content.
struct ISOBox {
    let type: String
    let content: ArraySlice<UInt8>
    /// Whether the file holds all of it.
    let isWhole: Bool
    /// The index of its type in the file.
    var typeIndex = 0

    /// Returns consecutive boxes, up to the first malformed one.
    /// - Parameter budget: Counts down with each box; at zero, the caller has to stop.
    static func boxes(in bytes: ArraySlice<UInt8>, budget: inout Int) -> [ISOBox] {
        var boxes: [ISOBox] = []
        var rest = bytes
        while budget > 0, let box = next(in: &rest) {
            budget -= 1
            boxes.append(box)
        }
        return boxes
    }

    /// Returns the bytes of a box.
    static func bytes(_ type: String, _ content: some Collection<UInt8>) -> [UInt8] {
        (content.count + 8).bigEndian(4) + Array(type.utf8) + content
    }

    /// The bytes of the box, with a header of 8 bytes.
    var bytes: [UInt8] { Self.bytes(type, content) }

    /// Returns the bytes of a movie or of a part of one, with the offsets of its tracks' chunks moved (section 8.7.5);
    /// those of another box as they are.
    func movingChunks(by distance: Int) -> [UInt8] {
        switch type {
        case "moov", "trak", "mdia", "minf", "stbl":
            var budget = 10_000
            return Self.bytes(
                type, Self.boxes(in: content, budget: &budget).flatMap { $0.movingChunks(by: distance) })
        case "stco":
            var content = Array(content)
            for entry in stride(from: 8, to: content.count - 3, by: 4) { content.add(distance, at: entry) }
            return Self.bytes(type, content)
        default: return bytes
        }
    }

    private static func next(in rest: inout ArraySlice<UInt8>) -> ISOBox? {
        guard let size = rest.number(at: 0, bytes: 4), let type = rest.slice(at: 4, count: 4) else { return nil }
        var header = 8
        var length = size
        if size == 1 {
            guard let large = rest.number(at: 8, bytes: 8) else { return nil }
            header = 16
            length = large
        } else if size == 0 {
            length = rest.count
        }
        guard length >= header else { return nil }
        // A box longer than the file gets what there is: the file may be truncated.
        let box = rest.prefix(length)
        let isWhole = box.count == length
        rest = rest.dropFirst(length)
        return ISOBox(
            type: String(decoding: type, as: UTF8.self), content: box.dropFirst(header), isWhole: isWhole,
            typeIndex: type.startIndex)
    }
}

extension [UInt8] {
    /// Adds to a big-endian number of 4 bytes.
    mutating func add(_ value: Int, at offset: Int) {
        guard let number = self[...].number(at: offset, bytes: 4) else { return }
        replaceSubrange(offset..<offset + 4, with: (number + value).bigEndian(4))
    }
}
