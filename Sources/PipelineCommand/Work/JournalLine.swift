import Pipeline

/// A line of a journal: a digest of the rest, then fields, separated by tabs.
enum JournalLine {
    /// The line, with its end.
    static func bytes(of fields: [String]) -> [UInt8] {
        let text = fields.map(escaped).joined(separator: "\t")
        return Array("\(BLAKE2bDigest(of: text).description.prefix(16))\t\(text)\n".utf8)
    }

    /// Reads a line without its end; `nil` if it is damaged.
    static func fields(of line: ArraySlice<UInt8>) -> [String]? {
        let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
        guard parts.count == 2,
            UInt64(String(decoding: parts[0], as: UTF8.self), radix: 16) == BLAKE2bDigest(of: parts[1]).number
        else { return nil }
        return parts[1].split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map {
            unescaped(String(decoding: $0, as: UTF8.self))
        }
    }

    /// Escapes tabs, newlines and percent signs. A path may contain anything but a zero byte.
    private static func escaped(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.flatMap { scalar -> [Unicode.Scalar] in
                    switch scalar {
                    case "%": Array("%25".unicodeScalars)
                    case "\t": Array("%09".unicodeScalars)
                    case "\n": Array("%0A".unicodeScalars)
                    default: [scalar]
                    }
                }))
    }

    private static func unescaped(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        return text.replacing("%0A", with: "\n").replacing("%09", with: "\t").replacing("%25", with: "%")
    }
}
