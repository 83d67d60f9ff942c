/// A piece of a YAML document and where it begins.
package struct YAMLNode: Sendable {
    package enum Content: Sendable {
        case scalar(String)
        case sequence([YAMLNode])
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    package let content: Content
    /// From 1.
    package let line: Int
    /// From 1, in characters.
    package let column: Int

    /// The text of a scalar.
    package var text: String? {
        if case .scalar(let text) = content { text } else { nil }
    }

    /// What it is, in words.
    var kind: String {
        switch content {
        case .scalar: "a value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}
