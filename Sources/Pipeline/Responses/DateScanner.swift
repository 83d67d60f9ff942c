/// Scans the parts of a date one after the other. A part that doesn't match consumes nothing.
struct DateScanner {
    private var rest: Slice<UnsafeBufferPointer<UInt8>>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    /// Scans a number of exactly `count` digits.
    mutating func digits(_ count: Int) -> Int? {
        guard rest.count >= count, let value = deltaSeconds(rest.prefix(count)) else { return nil }
        rest = rest.dropFirst(count)
        return value
    }

    /// Scans a text, which is given in lower case and matched without case.
    mutating func skip(_ text: StaticString) -> Bool {
        guard rest.count >= text.utf8CodeUnitCount else { return false }
        for (offset, byte) in rest.prefix(text.utf8CodeUnitCount).enumerated() {
            let isLetter = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
            guard (isLetter ? byte | 0x20 : byte) == text.utf8Start[offset] else { return false }
        }
        rest = rest.dropFirst(text.utf8CodeUnitCount)
        return true
    }

    /// Scans one of several texts and returns its index.
    mutating func name(_ names: [StaticString]) -> Int? {
        for (index, name) in names.enumerated() where skip(name) { return index }
        return nil
    }

    /// Scans `08:49:37` as the second of a day; a leap second is accepted.
    mutating func time() -> Int? {
        guard let hour = digits(2), skip(":"), let minute = digits(2), skip(":"), let second = digits(2), hour < 24,
            minute < 60, second <= 60
        else { return nil }
        return (hour * 60 + minute) * 60 + second
    }
}

/// Reads digits as seconds, at most 2^31 (RFC 9111 section 1.2.2); `nil` for anything but digits.
package func deltaSeconds(_ text: some Collection<UInt8>) -> Int? {
    guard !text.isEmpty else { return nil }
    var value = 0
    for byte in text {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        value = min(value * 10 + Int(byte - UInt8(ascii: "0")), 1 << 31)
    }
    return value
}
