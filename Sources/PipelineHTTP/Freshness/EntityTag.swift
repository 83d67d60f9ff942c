import HTTPTypes

/// An entity tag (RFC 9110 section 8.8.3).
struct EntityTag: Sendable, Hashable {
    let isWeak: Bool
    /// The text between the quotes.
    let opaque: String

    /// Reads one tag; `nil` if it isn't one.
    init?(_ text: some StringProtocol) {
        isWeak = text.hasPrefix("W/")
        let quoted = text.dropFirst(isWeak ? 2 : 0)
        guard quoted.utf8.count >= 2, quoted.first == "\"", quoted.last == "\"" else { return nil }
        opaque = String(quoted.dropFirst().dropLast())
        guard opaque.utf8.allSatisfy({ $0 == 0x21 || 0x23...0x7e ~= $0 || $0 >= 0x80 }) else { return nil }
    }

    /// Whether both are strong and equal: byte for byte the same representation (section 8.8.3.2).
    func stronglyMatches(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Whether both are equal, weak or not: equivalent representations (section 8.8.3.2).
    func weaklyMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
