import Pipeline

extension JPEGDecoder: MetadataRewriting {
    func rewritten(
        _ bytes: [UInt8], exif: [UInt8], xmp: [UInt8], keepsTexts: Bool, _ cancellation: WorkCancellation
    ) throws -> [UInt8] {
        var result: [UInt8] = [0xff, 0xd8]
        result.reserveCapacity(bytes.count)
        var (position, isBegun, steps) = (2, false, 0)
        while true {
            steps += 1
            if steps % 256 == 0 { try cancellation.check() }
            // Fill bytes may precede a marker, and some programs leave other bytes there.
            while position + 1 < bytes.count, bytes[position] != 0xff || !(0xc0..<0xff).contains(bytes[position + 1]) {
                position += 1
            }
            guard position + 1 < bytes.count else { throw Self.cutOff }
            let marker = bytes[position + 1]
            if !isBegun, marker != 0xe0 {
                isBegun = true
                result += Self.segment(0xe1, Array("Exif\0\0".utf8), exif)
                result += Self.segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0".utf8), xmp)
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
            } else if Self.isKept(marker, body, keepsTexts) {
                result += bytes[position..<position + 2 + length]
            }
            position += 2 + length
            if marker == 0xda { try Self.copyScan(bytes, &position, to: &result, cancellation) }
        }
    }

    /// Whether a segment is kept: tables and scans, the colour profile, and Adobe's marker for the coding of colours.
    private static func isKept(_ marker: UInt8, _ body: ArraySlice<UInt8>, _ keepsTexts: Bool) -> Bool {
        switch marker {
        case 0xe0, 0xe1: false
        case 0xe2: body.starts(with: "ICC_PROFILE\0".utf8)
        case 0xee: keepsTexts || body.starts(with: "Adobe".utf8)
        case 0xe3...0xef, 0xfe: keepsTexts
        default: true
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

    private static func segment(_ marker: UInt8, _ name: [UInt8], _ body: [UInt8]) -> [UInt8] {
        // The body came from one segment, so it fits.
        guard !body.isEmpty, body.count + name.count <= 65_533 else { return [] }
        return [0xff, marker] + (body.count + name.count + 2).bigEndian(2) + name + body
    }

    private static let cutOff = LoadError(
        .undecodable, subject: "", "The image/jpeg file is damaged or cut off (it has no end); get a new copy.")
}
