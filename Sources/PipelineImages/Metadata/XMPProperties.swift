/// The properties of an XMP packet (ISO 16684-1 section 7) in their order, read in one pass over its XML.
///
/// A property's name is its namespace and its local name. Its values are attributes, the text of an element, or the
/// texts of a list below one. Entities aren't replaced. Whatever makes no sense ends the reading.
struct XMPProperties {
    struct Property {
        let name: String
        /// Empty where an element begins.
        let value: String
    }

    private(set) var all: [Property] = []
    private var namespaces: [String: String] = [:]

    private static let syntax = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    /// The most bytes that are read, properties, and elements within each other.
    private static let (longest, most, deepest) = (1 << 20, 4096, 64)

    init(_ packet: ArraySlice<UInt8>) {
        var rest = packet.prefix(Self.longest)
        var open: [String] = []
        var text: [UInt8] = []
        while all.count < Self.most, open.count < Self.deepest, let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            text += rest[..<start]
            rest = rest[(start + 1)...]
            if rest.starts(with: "!--".utf8) {
                guard let end = Self.commentEnd(rest) else { return }
                rest = rest[end...]
                continue
            }
            guard let end = Self.tagEnd(rest) else { return }
            let tag = rest[..<end]
            rest = rest[(end + 1)...]
            switch tag.first {
            case UInt8(ascii: "/"):
                // The items of a list belong to the property around it.
                let name = open.last { !$0.hasPrefix(Self.syntax) }
                if open.popLast() == nil { return }
                let value = String(decoding: Self.trimmed(text[...]), as: UTF8.self)
                if let name, !value.isEmpty { all.append(Property(name: name, value: value)) }
            case UInt8(ascii: "?"), UInt8(ascii: "!"), nil: break
            default: take(tag, &open)
            }
            text = []
        }
    }

    /// The first value of a property.
    func first(_ name: String) -> String? { all.first { $0.name == name && !$0.value.isEmpty }?.value }

    /// All values of a property.
    func all(_ name: String) -> [String] { all.lazy.filter { $0.name == name && !$0.value.isEmpty }.map(\.value) }

    private mutating func take(_ tag: ArraySlice<UInt8>, _ open: inout [String]) {
        let name = tag.prefix { !Self.isSpace($0) && $0 != UInt8(ascii: "/") }
        let attributes = Self.attributes(of: tag[name.endIndex...])
        for (key, value) in attributes where key.hasPrefix("xmlns:") { namespaces[String(key.dropFirst(6))] = value }
        let element = resolved(String(decoding: name, as: UTF8.self))
        all.append(Property(name: element, value: ""))
        for (key, value) in attributes where !key.hasPrefix("xmlns") && !value.isEmpty {
            all.append(Property(name: resolved(key), value: value))
        }
        if tag.last != UInt8(ascii: "/") { open.append(element) }
    }

    private func resolved(_ name: String) -> String {
        guard let colon = name.firstIndex(of: ":"), let space = namespaces[String(name[..<colon])] else { return name }
        return space + name[name.index(after: colon)...]
    }

    private static func attributes(of tag: ArraySlice<UInt8>) -> [(key: String, value: String)] {
        var found: [(key: String, value: String)] = []
        var rest = tag
        while found.count < most, let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let key = trimmed(rest[..<equals])
            rest = rest[(equals + 1)...].drop(while: isSpace)
            guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                let end = rest.firstIndex(of: quote)
            else { return found }
            found.append(
                (String(decoding: key, as: UTF8.self), String(decoding: trimmed(rest[..<end]), as: UTF8.self)))
            rest = rest[(end + 1)...]
        }
        return found
    }

    /// The index after a comment.
    private static func commentEnd(_ rest: ArraySlice<UInt8>) -> Int? {
        var dashes = 0
        for index in rest.indices.dropFirst(3) {
            if rest[index] == UInt8(ascii: ">"), dashes >= 2 { return index + 1 }
            dashes = rest[index] == UInt8(ascii: "-") ? dashes + 1 : 0
        }
        return nil
    }

    /// The index of the `>` that ends a tag and isn't in quotes.
    private static func tagEnd(_ rest: ArraySlice<UInt8>) -> Int? {
        var quote: UInt8?
        for index in rest.indices {
            let byte = rest[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index
            }
        }
        return nil
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = text.drop(while: isSpace)
        return start[..<((start.lastIndex { !isSpace($0) } ?? start.startIndex - 1) + 1)]
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }
}
