package import Essentials

extension URL {
    /// Reads a URL from a user or a header field as browsers do: percent-encodes each byte that a URL can't have, and
    /// keeps the escapes that are there (RFC 3986 section 2.1).
    ///
    /// `URL(string:)` can't: if one character is invalid, it encodes the percent signs of valid escapes as well, so
    /// `/a%20b|c` becomes `/a%2520b%7Cc`, the address of something else.
    /// - Parameters:
    ///   - bytes: the text, usually in UTF-8.
    ///   - base: what a relative URL is relative to.
    ///   - encodesStrayPercent: whether a `%` without two hexadecimal digits stands for itself. If not, the result is
    ///     `nil`: browsers send it as it is, which a `URL` can't hold.
    package init?(
        escaping bytes: some Collection<UInt8>, relativeTo base: URL? = nil, encodesStrayPercent: Bool = false
    ) {
        let text = Array(bytes)
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.count)
        let authority = Self.authority(of: text)
        var hasFragment = false
        for (index, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: "%") where !Self.beginsEscape(text[index...]):
                guard encodesStrayPercent else { return nil }
                escaped += percentEncoded(byte)
            case UInt8(ascii: "#") where hasFragment: escaped += percentEncoded(byte)
            case UInt8(ascii: "["), UInt8(ascii: "]"):
                escaped += authority.contains(index) ? [byte] : percentEncoded(byte)
            // A name in another script is left to `URL(string:)`.
            case _ where authority.contains(index) || Self.mayStand(byte): escaped.append(byte)
            default: escaped += percentEncoded(byte)
            }
            if byte == UInt8(ascii: "#") { hasFragment = true }
        }
        guard let url = URL(string: String(decoding: escaped, as: UTF8.self), relativeTo: base) else { return nil }
        self = url.absoluteURL
    }

    /// Whether two hexadecimal digits follow the first byte.
    private static func beginsEscape(_ text: ArraySlice<UInt8>) -> Bool {
        text.count > 2 && text.dropFirst().prefix(2).allSatisfy(\.isHexadecimalDigit)
    }

    /// Where the host stands, with the user and the port.
    private static func authority(of text: [UInt8]) -> Range<Int> {
        let slash = UInt8(ascii: "/")
        let ends = text.firstIndex { [slash, UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        guard let first = ends, text[first...].starts(with: [slash, slash]),
            first == 0 || text[first - 1] == UInt8(ascii: ":")
        else { return 0..<0 }
        let rest = text[(first + 2)...]
        return rest
            .startIndex..<(rest.firstIndex { [slash, UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
            ?? rest.endIndex)
    }

    /// Whether a byte may stand in a path, a query or a fragment (RFC 3986 appendix A), or begins an escape.
    private static func mayStand(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7f && !"\"<>\\^`{|}".utf8.contains(byte)
    }
}

private func percentEncoded(_ byte: UInt8) -> [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool { Character(Unicode.Scalar(self)).isHexDigit }
}
