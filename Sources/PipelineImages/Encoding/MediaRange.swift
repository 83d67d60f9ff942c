/// One member of an Accept field: a type with its weight (RFC 9110 section 12.5.1).
struct MediaRange {
    /// The type in lower case, such as `image/*`.
    let type: String
    /// The weight in thousandths (section 12.4.2).
    let weight: Int

    /// Returns `nil` for malformed text, and for a type with parameters, which no image format has.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ";").map { $0.trimmed }
        guard let type = parts.first?.lowercased(), type.split(separator: "/").count == 2 else { return nil }
        self.type = type
        var weight = 1000
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmed }
            guard pair.count == 2, pair[0].lowercased() == "q" else { return nil }
            guard let value = Double(pair[1]), (0...1).contains(value) else { return nil }
            weight = Int((value * 1000).rounded())
        }
        self.weight = weight
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        let rest = drop { $0 == " " || $0 == "\t" }
        let end = rest.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { String(rest[...$0]) } ?? ""
    }
}
