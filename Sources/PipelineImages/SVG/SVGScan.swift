#if SVG
import Pipeline

/// Counts what drawing an SVG costs, in one pass over its bytes.
///
/// Markup that comes from entities isn't seen. Its cost is limited by the time of the load alone.
struct SVGScan {
    /// The elements.
    private(set) var elements = 0
    /// The bytes of all elements' classes.
    private(set) var classBytes = 0
    /// The elements' ancestors, summed up over all elements: a selector with a descendant may look at each.
    private(set) var ancestors = 0
    /// The siblings before each element, summed up.
    private(set) var siblings = 0
    /// The attributes of all elements.
    private(set) var attributes = 0
    /// How often libxml2 compares attributes or namespaces.
    private(set) var comparisons = 0
    /// The longest text without a tag within it, in characters.
    private(set) var longestText = 0
    /// The squares of the lengths of all texts, summed up.
    private(set) var textSquares = 0
    /// The characters of all texts. Of ASCII, which every font has, it is one.
    private(set) var characters: Set<Unicode.Scalar> = []
    /// What selectors cost.
    private(set) var styles = SVGStyles()
    /// The `data:` URLs in attributes.
    private(set) var dataURLs: [ArraySlice<UInt8>] = []

    /// How many children each open element has so far. The first one is the document's.
    private var children = [0]
    /// How many elements are open at the start of the text or style that is being read.
    private var textDepth: Int?
    private var styleDepth: Int?
    private var textLength = 0
    private var namespaces = 0
    private var innerSteps = 0
    /// The longest value that an entity may have.
    private var longestEntity = 0

    /// - Parameter bytes: The text in UTF-8, or in another encoding that has ASCII's markup.
    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while let start = rest.first {
            if start != UInt8(ascii: "<") {
                let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
                read(text: rest[..<end])
                rest = rest[end...]
            } else if rest.starts(with: "<!--".utf8) {
                rest = rest.dropFirst(4).after("-->")
            } else if rest.starts(with: "<![CDATA[".utf8) {
                let after = rest.after("]]>")
                read(text: rest[rest.startIndex + 9..<max(rest.startIndex + 9, after.startIndex - 3)])
                rest = after
            } else if rest.starts(with: "<?".utf8) {
                let after = rest.after("?>")
                styles.readLink(rest[..<after.startIndex])
                rest = after
            } else if rest.starts(with: "<!".utf8) {
                rest = readDeclaration(rest)
            } else {
                endText()
                rest = rest.dropFirst().first == UInt8(ascii: "/") ? readEnd(rest) : readTag(rest)
            }
        }
        endText()
        comparisons = comparisons.saturatingPlus(namespaces.saturatingTimes(elements.saturatingPlus(attributes)))
    }

    /// The steps that librsvg takes to find each element's style.
    var styleSteps: Int {
        styles.parts.saturatingTimes(elements + classBytes / 16)
            .saturatingPlus(styles.attributes.saturatingTimes(attributes))
            .saturatingPlus(styles.ancestors.saturatingTimes(ancestors))
            .saturatingPlus(styles.siblings.saturatingTimes(siblings))
            .saturatingPlus(innerSteps)
    }

    /// Adds what a picture in the SVG, itself an SVG, costs.
    mutating func add(_ scan: SVGScan) {
        elements += scan.elements
        innerSteps = innerSteps.saturatingPlus(scan.styleSteps)
        comparisons = comparisons.saturatingPlus(scan.comparisons)
        longestText = max(longestText, scan.longestText)
        textSquares = textSquares.saturatingPlus(scan.textSquares)
        characters.formUnion(scan.characters)
    }

    private mutating func read(text: ArraySlice<UInt8>) {
        if styleDepth != nil { styles.read(text) }
        guard textDepth != nil else { return }
        // A byte that continues a character isn't one.
        for byte in text where byte & 0xc0 != 0x80 {
            textLength += byte == UInt8(ascii: "&") ? max(1, longestEntity) : 1
        }
        if let first = text.first(where: { $0 > 0x20 && $0 < 0x7f }) { characters.insert(Unicode.Scalar(first)) }
        guard text.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "&") }) else { return }
        // What isn't UTF-8 can't be told.
        for scalar in text.resolvingReferences.unicodeScalars where scalar.value >= 0x80 && scalar != "\u{fffd}" {
            characters.insert(scalar)
        }
    }

    private mutating func endText() {
        longestText = max(longestText, textLength)
        textSquares = textSquares.saturatingPlus(textLength.saturatingTimes(textLength))
        textLength = 0
    }

    private mutating func readEnd(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if children.count > 1 { children.removeLast() }
        if let depth = textDepth, children.count <= depth { textDepth = nil }
        if let depth = styleDepth, children.count <= depth { styleDepth = nil }
        return tag.after(">")
    }

    private mutating func readTag(_ tag: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        siblings += children[children.count - 1]
        ancestors += children.count
        children[children.count - 1] += 1
        elements += 1
        let name = tag.dropFirst().prefix { !" \t\r\n/>".utf8.contains($0) }
        let local = name.split(separator: UInt8(ascii: ":")).last ?? []
        if textDepth == nil, local.elementsEqual("text".utf8) { textDepth = children.count }
        if styleDepth == nil, local.elementsEqual("style".utf8) { styleDepth = children.count }
        children.append(0)
        var place = name.endIndex
        var nameStart = place
        var count = 0
        while place < tag.endIndex {
            let byte = tag[place]
            if byte == UInt8(ascii: ">") {
                comparisons = comparisons.saturatingPlus(count.saturatingTimes(count))
                attributes += count
                let isEmpty = tag[place - 1] == UInt8(ascii: "/")
                return isEmpty ? readEnd(tag[place...]) : tag[(place + 1)...]
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                let value = tag[(place + 1)...].prefix { $0 != byte }
                read(value, of: tag[nameStart..<place])
                count += 1
                place = min(value.endIndex + 1, tag.endIndex)
                nameStart = place
            } else {
                place += 1
            }
        }
        return tag[place...]
    }

    /// - Parameter name: The attribute's name, with spaces and the equals sign.
    private mutating func read(_ value: ArraySlice<UInt8>, of name: ArraySlice<UInt8>) {
        let name = name.drop { " \t\r\n".utf8.contains($0) }
        if name.starts(with: "xmlns".utf8) { namespaces += 1 }
        if name.starts(with: "class".utf8) { classBytes += value.count }
        let trimmed = value.drop { $0 <= 0x20 }
        if trimmed.starts(with: "data:".utf8) { dataURLs.append(trimmed) }
    }

    /// Passes over a document type, and takes note of its entities.
    private mutating func readDeclaration(_ declaration: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = declaration.dropFirst(2)
        var depth = 0
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth <= 0: return rest.dropFirst()
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let value = rest.dropFirst().prefix { $0 != byte }
                if depth > 0 { longestEntity = max(longestEntity, value.count) }
                rest = rest[value.endIndex...]
            case UInt8(ascii: "<") where rest.starts(with: "<!--".utf8):
                rest = rest.dropFirst(4).after("-->")
                continue
            case UInt8(ascii: "<") where rest.starts(with: "<?".utf8):
                rest = rest.after("?>")
                continue
            default: break
            }
            rest = rest.dropFirst()
        }
        return rest
    }
}

extension ArraySlice<UInt8> {
    /// What follows the first occurrence of an ASCII text; empty without one.
    fileprivate func after(_ text: StaticString) -> ArraySlice<UInt8> {
        text.withUTF8Buffer { wanted in
            var place = startIndex
            while place + wanted.count <= endIndex {
                if self[place] == wanted[0], self[place..<place + wanted.count].elementsEqual(wanted) {
                    return self[(place + wanted.count)...]
                }
                place += 1
            }
            return self[endIndex...]
        }
    }
}
#endif
