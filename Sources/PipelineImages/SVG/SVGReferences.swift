#if SVG
extension ArraySlice<UInt8> {
    /// The text, in which numbers of characters, such as `&#10;` and `&#x6f22;`, are replaced by the characters.
    var resolvingReferences: String {
        guard contains(UInt8(ascii: "&")) else { return String(decoding: self, as: UTF8.self) }
        var text = String.UnicodeScalarView()
        var pieces = split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)[...]
        text.append(contentsOf: String(decoding: pieces.removeFirst(), as: UTF8.self).unicodeScalars)
        for piece in pieces {
            let name = piece.prefix { $0 != UInt8(ascii: ";") }
            if name.first == UInt8(ascii: "#"), name.count < 12, name.endIndex < piece.endIndex,
                let scalar = Self.scalar(String(decoding: name.dropFirst(), as: UTF8.self))
            {
                text.append(scalar)
                text.append(contentsOf: String(decoding: piece[(name.endIndex + 1)...], as: UTF8.self).unicodeScalars)
            } else {
                text.append("&")
                text.append(contentsOf: String(decoding: piece, as: UTF8.self).unicodeScalars)
            }
        }
        return String(text)
    }

    private static func scalar(_ number: String) -> Unicode.Scalar? {
        let value = number.hasPrefix("x") ? UInt32(number.dropFirst(), radix: 16) : UInt32(number)
        return value.flatMap(Unicode.Scalar.init)
    }
}
#endif
