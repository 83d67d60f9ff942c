import Pipeline

extension JPEGDecoder: MetadataRewriting {
    func rewritten(
        _ bytes: [UInt8], exif: [UInt8], xmp: [UInt8], without metadata: StrippedMetadata,
        _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var result: [UInt8] = [0xff, 0xd8]
        result.reserveCapacity(bytes.count)
        var blocks = [Block("Exif\0\0", of: "Exif\0", exif), Block("http://ns.adobe.com/xap/1.0/\0", xmp)]
        let stores = metadata.keepsProvenance ? try JPEGSegments(bytes[...], cancellation).manifestStores : []
        var (position, steps) = (2, 0)
        while true {
            steps += 1
            if steps % 256 == 0 { try cancellation.check() }
            // Fill bytes may precede a marker, and some programs leave other bytes there.
            while position + 1 < bytes.count, bytes[position] != 0xff || !(0xc0..<0xff).contains(bytes[position + 1]) {
                position += 1
            }
            guard position + 1 < bytes.count else { throw Self.cutOff }
            let marker = bytes[position + 1]
            if marker == 0xda {
                // What comes later isn't read.
                result += blocks.flatMap(\.segment)
                blocks = []
            }
            if marker == 0xd9 { return result + [0xff, 0xd9] }
            guard JPEGSegments.hasLength(0xff00 | Int(marker)) else {
                position += 2
                continue
            }
            guard let length = bytes[...].number(at: position + 2, bytes: 2), length >= 2,
                let body = bytes[...].slice(at: position + 4, count: length - 2)
            else { throw Self.cutOff }
            if marker == 0xe0, body.starts(with: "JFIF\0".utf8), body.count >= 14 {
                // JFIF is written without its thumbnail.
                result += [0xff, 0xe0, 0, 16] + body.prefix(12) + [0, 0]
            } else if marker == 0xe1, let block = blocks.firstIndex(where: { body.starts(with: $0.name) }) {
                // Only the first segment of its kind counts.
                result += blocks.remove(at: block).segment
            } else if Self.isKept(marker, body, metadata, stores) {
                result += bytes[position..<position + 2 + length]
            }
            position += 2 + length
            if marker == 0xda { try Self.copyScan(bytes, &position, to: &result, cancellation) }
        }
    }

    /// Whether a segment is kept: tables and scans, the colour profile, Adobe's marker for the coding of colours, and
    /// the numbered boxes that are stores of manifests.
    private static func isKept(
        _ marker: UInt8, _ body: ArraySlice<UInt8>, _ metadata: StrippedMetadata, _ stores: Set<Int>
    ) -> Bool {
        switch marker {
        case 0xe0, 0xe1: return false
        case 0xe2: return body.starts(with: "ICC_PROFILE\0".utf8)
        case 0xeb where body.starts(with: "JP".utf8):
            if let number = body.number(at: 2, bytes: 2), stores.contains(number) { return true }
            // Manifests, which may contain a position, and second pictures are in superboxes.
            return metadata.isLocation && body.slice(at: 12, count: 4)?.elementsEqual("jumb".utf8) == false
        case 0xee: return metadata.isLocation || body.starts(with: "Adobe".utf8)
        case 0xe3...0xef, 0xfe: return metadata.isLocation
        default: return true
        }
    }

    /// Copies coded pixels, including restart and reserved markers, up to the next other marker.
    private static func copyScan(
        _ bytes: [UInt8], _ position: inout Int, to result: inout [UInt8], _ cancellation: WorkCancellation
    ) throws {
        let start = position
        while position + 1 < bytes.count {
            if position % (1 << 16) == 0 { try cancellation.check() }
            guard bytes[position] == 0xff else {
                position += 1
                continue
            }
            // Any number of fill bytes may precede what follows: a zero for a pixel's byte, or a marker. Reserved markers
            // don't end a scan of a damaged file.
            var next = position + 1
            while next < bytes.count, bytes[next] == 0xff { next += 1 }
            guard next < bytes.count, !JPEGSegments.hasLength(0xff00 | Int(bytes[next])) else { break }
            position = next + 1
        }
        result += bytes[start..<position]
    }

    private static let cutOff = LoadError(
        .undecodable, subject: "", "The image/jpeg file is damaged or cut off (it has no end); get a new copy.")
}

/// A block of metadata in a segment of its own.
private struct Block {
    /// The beginning of the segments that it replaces.
    let name: [UInt8]
    /// Its segment; empty without a block.
    let segment: [UInt8]

    init(_ written: String, of name: String? = nil, _ body: [UInt8]) {
        self.name = Array((name ?? written).utf8)
        let content = Array(written.utf8) + body
        // The body came from one segment, so it fits.
        let isWritten = !body.isEmpty && content.count <= 65_533
        segment = isWritten ? [0xff, 0xe1] + (content.count + 2).bigEndian(2) + content : []
    }
}
