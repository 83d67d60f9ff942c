import FoundationEssentials
import Pipeline

/// Writes objects as lines of JSON, for `--json`.
enum JSONLine {
    /// The line of a value, without its end. The bytes of a path that are not UTF-8 are percent-encoded.
    static func of(_ value: some Encodable) -> String {
        let line = String(decoding: bytes(of: value), as: UTF8.self)
        return line.hasPathEscapes ? printable(escaped(line)) : escaped(line)
    }

    /// The line of a value as a program reads it, with all texts as they are.
    static func bytes(of value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can always be encoded.
        return (try? encoder.encode(value)).map { Array($0) } ?? Array("{}".utf8)
    }

    /// Escapes the invisible marks, which only texts have, as JSON can: programs read the same text, and a terminal shows
    /// nothing else. The encoder itself escapes those below U+0020 alone.
    private static func escaped(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: \.isInvisibleMark) else { return line }
        return line.unicodeScalars.map { scalar in
            guard scalar.isInvisibleMark else { return String(scalar) }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }.joined()
    }
}
