package import Essentials
import LibC

extension URL {
    /// The text that URLs of the same source share: without the fragment, with scheme and host in lower case (RFC 3986
    /// sections 3.5 and 6.2.2.1). Path and query stay as they are.
    package var identityText: String {
        var text = absoluteString
        // Most URLs are in this form already; looking first keeps a memory hit from allocating.
        guard let authorityEnd = text.withUTF8({ unfoldedAuthorityEnd($0) }) else { return text }
        let bytes = Array(text.utf8.prefix { $0 != UInt8(ascii: "#") })
        let head = bytes.prefix(authorityEnd)
        // User names and passwords are case-sensitive: only the text before and after them is lowercased.
        let at = head.lastIndex(of: UInt8(ascii: "@"))
        let schemeEnd = head.firstIndex(of: UInt8(ascii: ":")) ?? head.endIndex
        let folded = bytes.enumerated().map { index, byte in
            let folds = index < authorityEnd && (index < schemeEnd || index > at ?? 0)
            return folds && byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
        }
        return String(decoding: folded, as: UTF8.self)
    }
}

/// Where the authority of a URL ends; `nil` if nothing before that is in upper case and there is no fragment.
private func unfoldedAuthorityEnd(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
    var end = text.count
    var slashes = 0
    var folds = false
    var index = 0
    while index < end {
        let byte = text[index]
        // Nearly all bytes are lower-case letters and need no further check.
        if byte < UInt8(ascii: "a") {
            switch byte {
            case UInt8(ascii: "/"):
                slashes += 1
                if slashes == 3 { end = index }
            case UInt8(ascii: "?"), UInt8(ascii: "#"): end = index
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): folds = true
            default: break
            }
        }
        index += 1
    }
    let hasFragment = text.baseAddress.map { memchr($0, Int32(UInt8(ascii: "#")), text.count) != nil } ?? false
    return folds || hasFragment ? end : nil
}
