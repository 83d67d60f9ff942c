import CSQLite
import Pipeline

/// Queries used by `verify()` and `repair()`.
extension SQLiteDatabase {
    /// One row, with its body if that is in the database.
    struct InspectedEntry {
        let generation: Int64
        let target: String
        /// `nil` if it is malformed.
        let row: ResponseRow?
        let body: [UInt8]?
    }

    /// The number of the latest row, at which an inspection ends, however many are added meanwhile.
    func latestGeneration() throws -> Int64 {
        try first("SELECT max(generation) FROM responses") { $0.integer(0) } ?? 0
    }

    /// The number of the latest result.
    func latestVariant() throws -> Int64 { try first("SELECT max(rowid) FROM variants") { $0.integer(0) } ?? 0 }

    /// The next row after a generation; `nil` at the end.
    /// - Parameter version: the schema's, which may be an older one.
    func entry(after generation: Int64, version: Int64) throws -> InspectedEntry? {
        try first(
            """
            SELECT \(ResponseRow.columns(version: version)), source, (SELECT bytes FROM bodies WHERE generation = responses.generation)
            FROM responses WHERE generation > ?1 ORDER BY generation LIMIT 1
            """, .integer(generation)
        ) { row in
            InspectedEntry(
                generation: row.integer(0), target: row.text(1) ?? "",
                row: BLAKE2bDigest(bytes: row.bytes(14)).flatMap { ResponseRow(row, key: SourceKey(digest: $0)) },
                body: row.isNull(15) ? nil : row.bytes(15))
        }
    }

    /// The next result after a number, with the URL of its response; `nil` at the end.
    func variant(after number: Int64) throws -> VariantRow? {
        try first(
            """
            SELECT \(EncodedImage.columns), variants.rowid, length(variant), target
            FROM variants LEFT JOIN responses USING (generation)
            WHERE variants.rowid > ?1 ORDER BY variants.rowid LIMIT 1
            """, .integer(number)
        ) { row in
            VariantRow(
                number: row.integer(7), target: row.text(9),
                image: row.integer(8) == 32 ? EncodedImage(row) : nil)
        }
    }

    /// Whether the totals match the rows.
    func totalsAreRight() throws -> Bool {
        try first("SELECT (entries, bytes, files, file_bytes) = (\(Self.counted)) FROM totals") { $0.integer(0) } == 1
    }

    /// The names of the body files that rows point to.
    func bodyFiles() throws -> Set<String> {
        Set(try all("SELECT body_file FROM responses WHERE body_file IS NOT NULL") { $0.text(0) ?? "" })
    }

    /// How many bodies in the database belong to no row.
    func strayBodies() throws -> Int {
        try first("SELECT count(*) FROM bodies WHERE \(Self.isStray)") { Int($0.integer(0)) } ?? 0
    }

    fileprivate static let isStray = "generation NOT IN (SELECT generation FROM responses WHERE body_file IS NULL)"

    fileprivate static let counted = """
        SELECT count(*), \(sum("size")), count(body_file), \(sum("iif(body_file IS NULL, 0, body_length)")) FROM responses
        """

    /// A sum that doesn't fail if it is too large, as that of damaged rows may be.
    private static func sum(_ values: String) -> String {
        "CAST(max(-9e18, min(9e18, total(\(values)))) AS INTEGER)"
    }
}

extension ResponseTransaction {
    /// Removes a result by its row's number: a damaged one is made again when it is needed.
    func remove(variant number: Int64) throws {
        try database.run("DELETE FROM variants WHERE rowid = ?1", .integer(number))
    }

    /// Recalculates the totals, and removes the bodies that belong to no row.
    func recount() throws {
        try database.run("DELETE FROM bodies WHERE \(SQLiteDatabase.isStray)")
        try database.run("UPDATE totals SET (entries, bytes, files, file_bytes) = (\(SQLiteDatabase.counted))")
        guard database.changedRows == 0 else { return }
        try database.run(
            """
            INSERT INTO totals
            SELECT *, max(\(ResponseSchema.firstGeneration), (SELECT ifnull(max(generation), 0) FROM responses))
            FROM (\(SQLiteDatabase.counted))
            """)
    }
}
