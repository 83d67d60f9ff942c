package import HTTPTypes

/// The tags that an origin or a caller gives a response, so that all responses with a tag can be removed together.
///
/// Content delivery networks know two fields for them: `Surrogate-Key`, whose tags are separated by spaces, and
/// `Cache-Tag`, whose tags are separated by commas. Those of a caller are kept in `Pipeline-Tag`, separated by spaces
/// and percent-encoded: a confirmation by the origin may replace its own fields. Tags differ by case.
package enum ResponseTags {
    /// The tags in a response's fields, each once.
    package static func tags(in headers: HTTPFields) -> [String] {
        let keys = headers[values: .surrogateKey].flatMap { $0.split { $0 == " " || $0 == "\t" } }
        let tags = headers[values: .cacheTag].flatMap { $0.split(separator: ",") }.map { trimmed($0) }
        let own = headers[values: .pipelineTag].flatMap { $0.split(separator: " ") }
            .map { String(decoding: percentDecoded($0), as: UTF8.self) }
        var seen: Set<String> = []
        return ((keys + tags).map(String.init) + own).filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    /// The text that stands for a tag among the URLs of a response. The URL of a response is absolute and its scheme is
    /// http or https, so no URL looks like a tag.
    package static func target(_ tag: String) -> String { "tag:" + tag }

    /// Whether a target stands for a tag.
    package static func isTag(_ target: String) -> Bool { target.hasPrefix("tag:") }

    /// Percent-encodes every byte of a tag that isn't visible in ASCII.
    fileprivate static func encoded(_ tag: String) -> String {
        tag.utf8.reduce(into: "") { text, byte in
            if byte > 32, byte < 127, byte != UInt8(ascii: "%") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let end = text.lastIndex(where: { !isSpace($0) }) else { return "" }
        return text[...end].drop(while: isSpace)
    }
}

extension HTTPExchange {
    /// The exchange with a caller's tags among its fields.
    package func tagged(_ tags: Set<String>) -> HTTPExchange {
        var tagged = self
        tagged.headers.tag(tags)
        return tagged
    }
}

extension HTTPFields {
    /// Adds a caller's tags that aren't among them.
    mutating func tag(_ tags: Set<String>) {
        guard !tags.isEmpty, let name = HTTPField.Name.pipelineTag else { return }
        let added = tags.subtracting(ResponseTags.tags(in: self)).filter { !$0.isEmpty }.sorted()
        guard !added.isEmpty else { return }
        append(HTTPField(name: name, value: added.map(ResponseTags.encoded).joined(separator: " ")))
    }
}

extension HTTPField.Name {
    fileprivate static let surrogateKey = Self("Surrogate-Key")
    fileprivate static let cacheTag = Self("Cache-Tag")
    fileprivate static let pipelineTag = Self("Pipeline-Tag")
}

extension HTTPFields {
    fileprivate subscript(values name: HTTPField.Name?) -> [String] { name.map { self[values: $0] } ?? [] }
}
