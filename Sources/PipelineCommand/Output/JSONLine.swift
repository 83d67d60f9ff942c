import FoundationEssentials
import Pipeline

/// Writes objects as lines of JSON, for `--json`.
enum JSONLine {
    /// The line of a value, without its end. The bytes of a path that are not UTF-8 are percent-encoded.
    static func of(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and numbers can always be encoded.
        let line = (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        // The encoder escapes control characters itself.
        return line.hasPathEscapes ? printable(line) : line
    }
}
