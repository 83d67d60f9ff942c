import Pipeline

/// One row of results of stored responses.
struct VariantRow {
    /// The row's own number.
    let number: Int64
    /// The URL of the response that it was made of; `nil` if that is gone.
    let target: String?
    /// `nil` if the key or the result is damaged.
    let image: EncodedImage?
}

extension EncodedImage {
    /// The columns of a result that ``init(_:)`` reads, in its order.
    static let columns = "type, width, height, native_width, native_height, checksum, bytes"

    /// Reads a result; `nil` if it is damaged.
    init?(_ row: SQLiteRow) {
        let numbers = (1...4).map { Int(row.integer($0)) }
        self.init(
            bytes: row.bytes(6), declaredType: row.text(0), size: PixelSize(width: numbers[0], height: numbers[1]),
            nativeSize: PixelSize(width: numbers[2], height: numbers[3]))
        // The sides are bounded, since they are multiplied later.
        guard numbers.allSatisfy({ (0...Self.longestSide).contains($0) }),
            BodyChecksum(of: bytes).value == row.integer(5)
        else { return nil }
    }

    /// No format has longer sides.
    private static let longestSide = 1 << 24
}

extension SQLiteDatabase {
    func variant(_ digest: BLAKE2bDigest, of generation: Int64) throws -> EncodedImage? {
        try first(
            "SELECT \(EncodedImage.columns) FROM variants WHERE generation = ?1 AND variant = ?2",
            .integer(generation), .blob(digest.bytes)
        ) { EncodedImage($0) } ?? nil
    }

    func largestVariant(like digest: BLAKE2bDigest, of generation: Int64) throws -> EncodedImage? {
        try first(
            """
            SELECT \(EncodedImage.columns) FROM variants
            WHERE generation = ?1 AND substr(variant, 1, \(VariantKey.sharedBytes)) = ?2 ORDER BY width DESC LIMIT 1
            """, .integer(generation), .blob(Array(digest.bytes.prefix(VariantKey.sharedBytes)))
        ) { EncodedImage($0) } ?? nil
    }
}

extension ResponseTransaction {
    func insert(_ image: EncodedImage, as digest: BLAKE2bDigest, of generation: Int64, most: Int) throws {
        let (size, native) = (image.size ?? 0, image.nativeSize ?? image.size ?? 0)
        try database.run(
            "DELETE FROM variants WHERE generation = ?1 AND variant = ?2", .integer(generation), .blob(digest.bytes))
        try database.run(
            """
            INSERT INTO variants (generation, variant, type, width, height, native_width, native_height, checksum, bytes)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE EXISTS (SELECT 1 FROM responses WHERE generation = ?1)
            """, .integer(generation), .blob(digest.bytes), .text(image.declaredType ?? ""),
            .integer(Int64(size.width)), .integer(Int64(size.height)), .integer(Int64(native.width)),
            .integer(Int64(native.height)), .integer(BodyChecksum(of: image.bytes).value), .blob(image.bytes))
        try database.run(
            """
            DELETE FROM variants WHERE generation = ?1 AND rowid NOT IN
                (SELECT rowid FROM variants WHERE generation = ?1 ORDER BY rowid DESC LIMIT ?2)
            """, .integer(generation), .integer(Int64(most)))
    }
}
