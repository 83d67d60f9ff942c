/// Reads the output of ``ByteWriter``; returns `nil` where the bytes end too early.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The bytes that haven't been read.
    var remaining: ArraySlice<UInt8> { rest }

    /// Whether everything was read.
    var isAtEnd: Bool { rest.isEmpty }

    /// Reads a number of a fixed width.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        let width = Number.bitWidth / 8
        guard rest.count >= width else { return nil }
        defer { rest = rest.dropFirst(width) }
        return rest.prefix(width).enumerated().reduce(0) {
            $0 | Number(truncatingIfNeeded: $1.element) << ($1.offset * 8)
        }
    }

    /// Reads bytes that follow their count.
    mutating func run() -> ArraySlice<UInt8>? {
        guard let count = number(UInt32.self), rest.count >= Int(count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }
}
