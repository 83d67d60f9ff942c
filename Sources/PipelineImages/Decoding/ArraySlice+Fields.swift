extension ArraySlice<UInt8> {
    /// Reads a big-endian number `offset` bytes after the start; `nil` past the end or above `Int.max`.
    func number(at offset: Int, bytes length: Int) -> Int? {
        guard length > 0 else { return 0 }
        guard length <= 8, let field = slice(at: offset, count: length) else { return nil }
        return Int(exactly: field.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Reads a little-endian number in the same way.
    func littleEndianNumber(at offset: Int, bytes length: Int) -> Int? {
        guard length > 0 else { return 0 }
        guard length <= 8, let field = slice(at: offset, count: length) else { return nil }
        return Int(exactly: field.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// Returns `length` bytes from `offset` bytes after the start; `nil` if there are fewer.
    func slice(at offset: Int, count length: Int) -> ArraySlice<UInt8>? {
        guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return nil }
        return self[startIndex + offset..<startIndex + offset + length]
    }
}
