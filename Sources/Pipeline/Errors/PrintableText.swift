/// Texts of strangers as they may be shown: file names, servers' words, metadata.
extension Unicode.Scalar {
    /// Whether it changes how a terminal, a log or a page shows the text around it: control characters (Cc), separators of
    /// lines and paragraphs (Zl, Zp), and invisible format characters (Cf), such as those that turn the direction of
    /// writing or carry hidden text.
    ///
    /// U+200C and U+200D don't count: Persian, the languages of India and emoji need them, as they need the variation
    /// selectors up to U+FE0F. Nor do the format characters that are seen, such as Arabic number signs. Looking the
    /// category up takes far longer than these ranges.
    package var isInvisibleMark: Bool {
        guard value >= 0x20 else { return true }
        guard value >= 0x7F else { return false }
        return switch value {
        case 0x7F...0x9F, 0xAD, 0x61C, 0x180E, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xFFF0...0xFFFB, 0x13430...0x1343F, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A, 0xE0000...0xE0FFF:
            true
        default: false
        }
    }

    /// Whether it stands for a byte of a path that is not UTF-8.
    fileprivate var isPathEscape: Bool { 0x10FF80...0x10FFFF ~= value }
}

/// Returns a text with its invisible marks percent-encoded, so that it can't begin a new line in a log, colour a terminal,
/// or pass for another name. Bytes of a path that are not UTF-8 are encoded too.
///
/// It is for names, of which nothing may get lost. Use ``plainText(_:limit:)`` for prose.
package func printable(_ text: some StringProtocol) -> String { printable(text) { $0.isInvisibleMark } }

/// The same for a text of several lines.
package func printableLines(_ text: some StringProtocol) -> String {
    printable(text) { $0 != "\n" && $0.isInvisibleMark }
}

private func printable(_ text: some StringProtocol, _ isMark: (Unicode.Scalar) -> Bool) -> String {
    if !text.unicodeScalars.contains(where: { isMark($0) || $0.isPathEscape }) { return String(text) }
    return text.unicodeScalars.map { scalar in
        if scalar.isPathEscape { return "%" + String(scalar.value & 0xFF, radix: 16, uppercase: true) }
        guard isMark(scalar) else { return String(scalar) }
        return String(scalar).utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }.joined()
}

/// Returns prose of a stranger in one line, without its invisible marks.
/// - Parameters:
///   - limit: The most Unicode scalars that are read; 1000 by default. The rest is cut.
///   - filler: What stands for each mark; nothing by default.
package func plainText(_ text: some StringProtocol, limit: Int = 1000, filler: Unicode.Scalar? = nil) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(limit) {
        if !scalar.isInvisibleMark { scalars.append(scalar) } else if let filler { scalars.append(filler) }
    }
    return String(scalars)
}
