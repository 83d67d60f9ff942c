package import HTTPTypes

/// The tags that an origin gives a response, so that all responses with a tag can be removed together.
///
/// Content delivery networks know two fields for them: `Surrogate-Key`, whose tags are separated by spaces, and
/// `Cache-Tag`, whose tags are separated by commas. Tags differ by case.
package enum ResponseTags {
    /// The tags in a response's fields, each once.
    package static func tags(in headers: HTTPFields) -> [String] {
        let keys = headers[values: .surrogateKey].flatMap { $0.split { $0 == " " || $0 == "\t" } }
        let tags = headers[values: .cacheTag].flatMap { $0.split(separator: ",") }.map { trimmed($0) }
        var seen: Set<Substring> = []
        return (keys + tags).filter { !$0.isEmpty && seen.insert($0).inserted }.map(String.init)
    }

    /// The text that stands for a tag among the URLs of a response. The URL of a response is absolute and its scheme is
    /// http or https, so no URL looks like a tag.
    package static func target(_ tag: String) -> String { "tag:" + tag }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let end = text.lastIndex(where: { !isSpace($0) }) else { return "" }
        return text[...end].drop(while: isSpace)
    }
}

extension HTTPField.Name {
    fileprivate static let surrogateKey = Self("Surrogate-Key")
    fileprivate static let cacheTag = Self("Cache-Tag")
}

extension HTTPFields {
    fileprivate subscript(values name: HTTPField.Name?) -> [String] { name.map { self[values: $0] } ?? [] }
}
