public import Pipeline

/// Tells formats apart by their first bytes, whatever a name or a Content-Type says.
///
/// It only compares, so any bytes are safe to give; that a format is named doesn't say that the file is whole.
public enum ImageFormatSniffer {
    /// The format whose signature the bytes begin with; `nil` if it is none that is known.
    public static func format(of bytes: [UInt8]) -> ImageFormat? {
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return .jpeg }
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return .png }
        if bytes.has("GIF87a") || bytes.has("GIF89a") { return .gif }
        if bytes.has("RIFF"), bytes.has("WEBP", at: 8) { return .webp }
        // Classic TIFF has the number 42 after its byte order, BigTIFF 43.
        if bytes.has("II*\0") || bytes.has("MM\0*") || bytes.has("II+\0") || bytes.has("MM\0+") { return .tiff }
        if bytes.has("ftyp", at: 4) { return isoFormat(of: bytes) }
        if bytes.starts(with: [0xff, 0x0a]) || bytes.starts(with: jxlContainer) { return .jxl }
        if bytes.has("BM"), isBitmap(bytes) { return .bmp }
        if isSVG(bytes) { return .svg }
        return nil
    }

    private static let jxlContainer: [UInt8] = [0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a]

    /// The brands of the `ftyp` box (ISO/IEC 14496-12 section 4.3): the major one, then the compatible ones.
    private static func isoFormat(of bytes: [UInt8]) -> ImageFormat? {
        let size = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        let end = min(size, bytes.count, 512)
        let offsets = ([8] + stride(from: 16, to: end, by: 4)).filter { $0 + 4 <= end }
        let brands = offsets.map { String(decoding: bytes[$0..<$0 + 4], as: UTF8.self) }
        for brand in brands {
            switch brand {
            case "avif", "avis": return .avif
            case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heic
            default: continue
            }
        }
        return brands.contains { ["mif1", "msf1", "miaf"].contains($0) } ? imageFormat(of: bytes) : nil
    }

    /// The brand of a picture alone doesn't tell its codec; the configuration does, which stands near the beginning.
    private static func imageFormat(of bytes: [UInt8]) -> ImageFormat? {
        let start = bytes.prefix(1 << 16)
        if start.firstRange(of: Array("hvcC".utf8)) != nil { return .heic }
        return start.firstRange(of: Array("av1C".utf8)) != nil ? .avif : nil
    }

    /// "BM" is two letters of many texts; the size of the second header is one of few.
    private static func isBitmap(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 18 else { return false }
        let headerSize = bytes[14..<18].reversed().reduce(0) { $0 << 8 | Int($1) }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(headerSize)
    }

    /// SVG is XML: after a byte order mark, spaces, a declaration, comments and a document type comes its root.
    private static func isSVG(_ bytes: [UInt8]) -> Bool {
        var rest = bytes.prefix(4096)[...]
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
        while true {
            rest = rest.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
            if rest.starts(with: "<svg".utf8) { return true }
            if rest.starts(with: "<!--".utf8) {
                guard let end = rest.firstRange(of: Array("-->".utf8)) else { return false }
                rest = rest[end.upperBound...]
            } else if rest.starts(with: "<?".utf8) || rest.starts(with: "<!DOCTYPE svg".utf8) {
                guard let end = endOfMarkup(in: rest) else { return false }
                rest = rest[end...]
            } else {
                return false
            }
        }
    }

    /// Where a declaration ends: after the `>` that is outside brackets, which hold declarations of their own.
    private static func endOfMarkup(in bytes: ArraySlice<UInt8>) -> Int? {
        var depth = 0
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth <= 0: return index + 1
            default: break
            }
        }
        return nil
    }
}

extension [UInt8] {
    /// Whether the text stands at an offset.
    fileprivate func has(_ text: StaticString, at offset: Int = 0) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= offset + length else { return false }
        return self[offset..<offset + length].elementsEqual(
            UnsafeBufferPointer(start: text.utf8Start, count: length))
    }
}
