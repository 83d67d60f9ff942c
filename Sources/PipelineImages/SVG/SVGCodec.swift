import Pipeline

extension ImageCodec {
    /// SVG by librsvg, read-only. Its library isn't made for hostile files, so it is only decoded in processes of its
    /// own: add it to the codecs that a `DecoderPool` isolates.
    public static let svg = ImageCodec(
        .svg, extensions: ["svg"], aliases: ["image/svg"],
        decoder: ConfinedDecoder(SVGDecoder()),
        negotiation: nil, matches: isSVG)

    /// Whether the root element is `svg`. A byte order mark, spaces, a declaration, comments and a document type may
    /// precede it.
    @Sendable private static func isSVG(_ bytes: [UInt8]) -> Bool {
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
