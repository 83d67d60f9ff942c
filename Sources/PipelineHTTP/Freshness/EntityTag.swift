import HTTPTypes

/// An entity tag (RFC 9110 section 8.8.3).
struct EntityTag: Sendable, Hashable {
    let isWeak: Bool
    /// What stands between the quotes.
    let opaque: String

    /// Reads one tag; `nil` if it is none.
    init?(_ text: some StringProtocol) {
        isWeak = text.hasPrefix("W/")
        let quoted = text.dropFirst(isWeak ? 2 : 0)
        guard quoted.utf8.count >= 2, quoted.first == "\"", quoted.last == "\"" else { return nil }
        opaque = String(quoted.dropFirst().dropLast())
        guard opaque.utf8.allSatisfy({ $0 == 0x21 || 0x23...0x7e ~= $0 || $0 >= 0x80 }) else { return nil }
    }

    /// Equal and both strong: byte for byte the same representation (section 8.8.3.2).
    func stronglyMatches(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Equal, weak or not: as good as the same (section 8.8.3.2).
    func weaklyMatches(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
