import CSQLiteAlone
import Foundation

/// Numbered bodies in one table, for the cost of SQLite without header fields, freshness and checksums.
///
/// It is safe to send: the benchmark reads on one thread at a time.
final class SQLiteAlone: @unchecked Sendable {
    private var database: OpaquePointer?
    private var statement: OpaquePointer?

    init(_ path: String, count: Int, bytes: Int) throws {
        guard sqlite3_open(path, &database) == SQLITE_OK else { throw DiskLookups.Unexpected() }
        sqlite3_exec(
            database,
            "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; CREATE TABLE bodies (key INTEGER PRIMARY KEY, bytes BLOB)",
            nil, nil, nil)
        sqlite3_exec(database, "BEGIN", nil, nil, nil)
        for number in 0..<count {
            sqlite3_exec(
                database, "INSERT INTO bodies VALUES (\(number), zeroblob(\(bytes)))", nil, nil, nil)
        }
        sqlite3_exec(database, "COMMIT", nil, nil, nil)
        sqlite3_prepare_v2(database, "SELECT bytes FROM bodies WHERE key = ?1", -1, &statement, nil)
    }

    deinit {
        sqlite3_finalize(statement)
        sqlite3_close(database)
    }

    /// Reads a whole body and returns its length.
    func read(_ number: Int) -> Int {
        sqlite3_bind_int64(statement, 1, Int64(number))
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW, let start = sqlite3_column_blob(statement, 0) else { return 0 }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, 0)))).count
    }
}
