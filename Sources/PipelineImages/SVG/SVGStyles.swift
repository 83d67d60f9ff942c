#if SVG
/// Counts what the selectors of an SVG's style sheets cost.
struct SVGStyles {
    /// The parts of selectors that may be compared with each element, and the declarations, of which four count as one.
    var parts: Int { selectors + declarations / 4 }
    /// The parts that may be compared with each attribute.
    private(set) var attributes = 0
    /// The parts that may be compared with each ancestor.
    private(set) var ancestors = 0
    /// The parts that may be compared with each sibling.
    private(set) var siblings = 0

    private var selectors = 0
    private var declarations = 0
    /// How many blocks are open.
    private var depth = 0
    /// Whether a part of a selector was read.
    private var isCompound = false
    /// Whether a space follows that part.
    private var isSpaced = false

    /// Counts a link to a style sheet. One in a `data:` URL costs as much as its length allows.
    mutating func readLink(_ link: ArraySlice<UInt8>) {
        if link.firstRange(of: Array("data:".utf8)) != nil { selectors += link.count / 2 }
    }

    /// Reads a part of a style sheet.
    mutating func read(_ text: ArraySlice<UInt8>) {
        var place = text.startIndex
        while place < text.endIndex {
            let byte = text[place]
            if byte == UInt8(ascii: "/"), text[place...].starts(with: "/*".utf8) {
                place = Self.endOfComment(text, place + 2)
                continue
            }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                let string = text[(place + 1)...].prefix { $0 != byte && $0 != UInt8(ascii: "\n") }
                readLink(string)
                place = string.endIndex + 1
                continue
            }
            if byte == UInt8(ascii: "@") { readLink(text[place...].prefix { $0 != UInt8(ascii: ";") }) }
            if depth > 0 { readDeclaration(byte) } else { readSelector(byte, text[place...]) }
            place += 1
        }
    }

    private mutating func readDeclaration(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: ";"): declarations += 1
        case UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "}"):
            declarations += 1
            depth -= 1
        default: break
        }
    }

    private mutating func readSelector(_ byte: UInt8, _ rest: ArraySlice<UInt8>) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): isSpaced = isCompound
        case UInt8(ascii: "{"), UInt8(ascii: ","), UInt8(ascii: ">"), UInt8(ascii: "+"):
            selectors += 1
            if byte == UInt8(ascii: "{") { depth += 1 }
            (isCompound, isSpaced) = (false, false)
        case UInt8(ascii: "~") where rest.dropFirst().first != UInt8(ascii: "="):
            selectors += 1
            siblings += 1
            (isCompound, isSpaced) = (false, false)
        default:
            if isSpaced {
                ancestors += 1
            } else if isCompound, ".#[:".utf8.contains(byte) {
                selectors += 1
            }
            if byte == UInt8(ascii: "[") { attributes += 1 }
            if byte == UInt8(ascii: ":"), Self.countsSiblings(rest.dropFirst()) { siblings += 1 }
            (isCompound, isSpaced) = (true, false)
        }
    }

    /// Whether a pseudo-class such as `:nth-child` and `:first-of-type` counts siblings.
    private static func countsSiblings(_ name: ArraySlice<UInt8>) -> Bool {
        let name = name.prefix(20).prefix { $0 == UInt8(ascii: "-") || (0x61...0x7a).contains($0 | 0x20) }
        let text = String(decoding: name, as: UTF8.self).lowercased()
        return text.hasPrefix("nth-") || text.hasSuffix("-of-type")
    }

    private static func endOfComment(_ text: ArraySlice<UInt8>, _ start: Int) -> Int {
        var place = start
        while place + 1 < text.endIndex {
            if text[place] == UInt8(ascii: "*"), text[place + 1] == UInt8(ascii: "/") { return place + 2 }
            place += 1
        }
        return text.endIndex
    }
}
#endif
