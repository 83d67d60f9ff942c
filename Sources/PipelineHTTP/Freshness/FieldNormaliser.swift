/// Normalises the values of a request's field, so that values with the same meaning are equal (RFC 9111 section 4.1).
///
/// Lines are combined, and white space around commas is removed. If the order and case of members mean nothing, they
/// are sorted and lowercased: the preferences of RFC 9110 section 12.5 have their order in their weights.
enum FieldNormaliser {
    /// Returns the normal form of a field's lines.
    static func normalise(_ lines: [[UInt8]], of name: String) -> [UInt8] {
        guard name != "cookie" else { return Array(lines.joined(separator: "; ".utf8)) }
        var members = lines.flatMap(members)
        switch name {
        case "accept-charset", "accept-encoding", "accept-language":
            members = members.map { $0.filter { !isSpace($0) }.map(lowercased) }.sorted {
                $0.lexicographicallyPrecedes($1)
            }
        case "accept":
            members = members.map { $0.filter { !isSpace($0) } }.sorted { $0.lexicographicallyPrecedes($1) }
        default: break
        }
        return Array(members.joined(separator: [UInt8(ascii: ",")]))
    }

    /// The members of a line, trimmed; commas in quotes don't separate them.
    private static func members(of line: [UInt8]) -> [[UInt8]] {
        var members: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        for byte in line {
            if byte == UInt8(ascii: ","), !isQuoted {
                members.append([])
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = byte == UInt8(ascii: "\\") && isQuoted && !isEscaped
            members[members.count - 1].append(byte)
        }
        return members.map(trimmed)
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        guard let end = bytes.lastIndex(where: { !isSpace($0) }) else { return [] }
        return Array(bytes[...end].drop(while: isSpace))
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
