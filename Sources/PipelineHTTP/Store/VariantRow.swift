import Pipeline

/// One row of what was made of stored responses.
struct VariantRow {
    /// The row's own number.
    let number: Int64
    /// The URL of the response that it was made of; `nil` if that is gone.
    let target: String?
    /// `nil` if the key or the result is not what was stored.
    let image: EncodedImage?
}

extension EncodedImage {
    /// The columns of a result that ``init(_:)`` reads, in its order.
    static let columns = "type, width, height, native_width, native_height, checksum, bytes"

    /// Reads a result; `nil` if it is not what was stored.
    init?(_ row: SQLiteRow) {
        let numbers = (1...4).map { Int(row.integer($0)) }
        self.init(
            bytes: row.bytes(6), declaredType: row.text(0), size: PixelSize(width: numbers[0], height: numbers[1]),
            nativeSize: PixelSize(width: numbers[2], height: numbers[3]))
        // Whoever uses a size multiplies its sides.
        guard numbers.allSatisfy({ (0...Self.longestSide).contains($0) }),
            BodyChecksum(of: bytes).value == row.integer(5)
        else { return nil }
    }

    /// No format has longer ones.
    private static let longestSide = 1 << 24
}
