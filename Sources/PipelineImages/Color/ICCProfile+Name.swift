import Pipeline

extension ICCProfile {
    /// The colour space that the profile is for, such as `RGB ` or `CMYK` (section 7.2.6).
    var space: String? { text(at: 16) }

    /// The profile's description (section 9.2.41): one text, or the first of several languages.
    var name: String? {
        guard let tag = tag("desc"), let type = tag.slice(at: 0, count: 4) else { return nil }
        switch String(decoding: type, as: UTF8.self) {
        case "desc":
            guard let count = tag.number(at: 8, bytes: 4), let letters = tag.slice(at: 12, count: count) else {
                return nil
            }
            return Self.plain(String(decoding: letters.prefix { $0 != 0 }, as: UTF8.self))
        case "mluc":
            guard tag.number(at: 8, bytes: 4) ?? 0 > 0, let count = tag.number(at: 20, bytes: 4),
                let offset = tag.number(at: 24, bytes: 4), let letters = tag.slice(at: offset, count: count)
            else { return nil }
            let pairs = Array(letters)
            let units = stride(from: 0, to: pairs.count - 1, by: 2).map { place -> UInt16 in
                UInt16(pairs[place]) << 8 | UInt16(pairs[place + 1])
            }
            return Self.plain(String(decoding: units.prefix { $0 != 0 }, as: UTF16.self))
        default: return nil
        }
    }

    /// The text may come from a hostile file and end up on a terminal.
    private static func plain(_ text: String) -> String? {
        let text = plainText(text, limit: 100)
        return text.isEmpty ? nil : text
    }
}
