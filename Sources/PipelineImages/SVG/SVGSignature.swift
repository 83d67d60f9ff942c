#if SVG
/// Tells an SVG by its root element, or by its compression.
enum SVGSignature {
    /// The most bytes that are looked at: a licence in a comment is shorter.
    private static let most = 65_536

    /// Whether the file is an SVG, or compressed with gzip, as only SVGs are. What is in it isn't looked at, since that
    /// is left to a confined process.
    @Sendable static func matches(_ bytes: [UInt8]) -> Bool { isCompressed(bytes) || isText(bytes) }

    /// Whether the file is compressed with gzip (RFC 1952).
    static func isCompressed(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1f, 0x8b, 8]) }

    /// Whether the root element is `svg`, with any prefix, in UTF-8 or UTF-16. A byte order mark, spaces, a declaration,
    /// comments and a document type may precede it.
    static func isText(_ bytes: [UInt8]) -> Bool {
        var rest = text(of: bytes.prefix(most))
        while true {
            rest = rest.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
            if rest.starts(with: "<!--".utf8) {
                guard let end = rest.dropFirst(4).firstRange(of: Array("-->".utf8)) else { return false }
                rest = rest[end.upperBound...]
            } else if rest.starts(with: "<?".utf8) || isSVG(rest, after: "<!DOCTYPE ") {
                guard let end = endOfMarkup(in: rest) else { return false }
                rest = rest[end...]
            } else {
                return isSVG(rest, after: "<")
            }
        }
    }

    /// Whether a name without its prefix is `svg`.
    private static func isSVG(_ bytes: ArraySlice<UInt8>, after start: String) -> Bool {
        guard bytes.starts(with: start.utf8) else { return false }
        let name = bytes.dropFirst(start.utf8.count).prefix { !" \t\r\n/>[".utf8.contains($0) }
        return name.count <= 256 && name.split(separator: UInt8(ascii: ":")).last?.elementsEqual("svg".utf8) == true
    }

    /// The text in UTF-8; `nil` unless it is UTF-16, which its byte order mark says.
    static func utf8(ofUTF16 bytes: [UInt8]) -> [UInt8]? {
        let isBig = bytes.starts(with: [0xfe, 0xff])
        guard isBig || bytes.starts(with: [0xff, 0xfe]) else { return nil }
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { place in
            let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            return isBig ? first << 8 | second : second << 8 | first
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// The same text in UTF-16, with a byte order mark.
    static func utf16(ofUTF8 bytes: [UInt8]) -> [UInt8] {
        [0xff, 0xfe] + String(decoding: bytes, as: UTF8.self).utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
    }

    /// The text's ASCII characters in bytes, without a byte order mark.
    private static func text(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { return bytes.dropFirst(3) }
        let isBig = bytes.starts(with: [0xfe, 0xff])
        guard isBig || bytes.starts(with: [0xff, 0xfe]) else { return bytes }
        return stride(from: 2, to: bytes.count - 1, by: 2).map { place in
            let (high, low) = isBig ? (bytes[place], bytes[place + 1]) : (bytes[place + 1], bytes[place])
            return high == 0 ? low : UInt8(ascii: "?")
        }[...]
    }

    /// Returns the end of a declaration: after the first `>` outside brackets, which hold declarations of their own.
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
#endif
