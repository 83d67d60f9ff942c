import FoundationEssentials

extension URL {
    /// The text by which two URLs are one source: without the fragment, scheme and host in lower case
    /// (RFC 3986 sections 3.5 and 6.2.2.1). Path and query stay as they are.
    package var identityText: String {
        let text = absoluteString
        var authorityEnd = text.utf8.count
        var slashes = 0
        var plain = true
        // Most URLs are in this form already; looking first keeps a memory hit from allocating.
        for (index, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "#"): plain = false
            case UInt8(ascii: "/"), UInt8(ascii: "?"):
                slashes += 1
                if slashes == 3 || byte == UInt8(ascii: "?") { authorityEnd = min(authorityEnd, index) }
            case UInt8(ascii: "A")...UInt8(ascii: "Z") where index < authorityEnd: plain = false
            default: break
            }
        }
        guard !plain else { return text }
        let bytes = Array(text.utf8.prefix { $0 != UInt8(ascii: "#") })
        let head = bytes.prefix(authorityEnd)
        // User names and passwords are case-sensitive: only what stands before and after them is folded.
        let at = head.lastIndex(of: UInt8(ascii: "@"))
        let schemeEnd = head.firstIndex(of: UInt8(ascii: ":")) ?? head.endIndex
        let folded = bytes.enumerated().map { index, byte in
            let folds = index < authorityEnd && (index < schemeEnd || index > at ?? 0)
            return folds && byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
        }
        return String(decoding: folded, as: UTF8.self)
    }
}
