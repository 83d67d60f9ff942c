import CSQLite

/// The current row of a statement; valid until the statement moves on.
struct SQLiteRow {
    let statement: OpaquePointer

    /// Whether a column is null.
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    /// A column's integer; 0 where it is null.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// A column's integer, or `nil` where it is null.
    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// A column's text, or `nil` where it is null.
    func text(_ column: Int32) -> String? { sqlite3_column_text(statement, column).map { String(cString: $0) } }

    /// A copy of a column's bytes; empty where it is null.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }
}
