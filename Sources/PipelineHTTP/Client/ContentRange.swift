/// The bytes of the whole content that a response carries: `bytes 500-999/1234` (RFC 9110 section 14.4).
struct ContentRange: Sendable, Hashable {
    /// The first byte's position, counted from 0.
    let first: Int
    /// The last byte's position; the range includes it.
    let last: Int
    /// The number of bytes of the whole; `nil` where the origin doesn't know it (`*`).
    let total: Int?

    /// Reads a field's value; `nil` if it is not a satisfied range of bytes.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
            return nil
        }
        let total = Self.number(parts[1])
        guard total.map({ last < $0 }) ?? (parts[1] == "*") else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    /// Reads digits only: `Int` would accept a sign.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ? Int(text) : nil
    }
}
