import CSQLite

/// An error of SQLite.
struct SQLiteError: Error, CustomStringConvertible {
    /// SQLite's extended result code.
    let code: Int32
    /// SQLite's own message, which names tables but never values.
    let message: String

    /// Takes the message of a connection's last failure.
    init(code: Int32, database: OpaquePointer?) {
        self.code = code
        message = String(cString: database.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
    }

    /// The result code without its details.
    var primaryCode: Int32 { code & 0xff }

    /// Whether the file is damaged, or not a database of this library.
    var isCorruption: Bool {
        primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB || primaryCode == SQLITE_FORMAT
            || hasOtherTables || hasOtherValues
            // The file was truncated: it ends before its pages do.
            || code == SQLITE_IOERR_SHORT_READ_CODE
    }

    /// Whether a change failed because a row holds values that no version writes.
    private var hasOtherValues: Bool { primaryCode == SQLITE_MISMATCH || primaryCode == SQLITE_CONSTRAINT }

    /// Whether the tables are not those of the file's version, such as another program's. SQLite has no separate code
    /// for that.
    private var hasOtherTables: Bool {
        primaryCode == SQLITE_ERROR && Self.otherTables.contains { message.contains($0) }
    }

    private static let otherTables = [
        "no such table", "no such column", "has no column named", "cannot join using column", "already exists",
    ]

    /// Whether the file system has no room.
    var isFull: Bool { primaryCode == SQLITE_FULL }

    /// Whether another connection holds the lock.
    var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    var description: String { "\(message) (SQLite \(code))" }
}

/// `SQLITE_IOERR_SHORT_READ`, which is a macro that Swift can't read.
private let SQLITE_IOERR_SHORT_READ_CODE: Int32 = SQLITE_IOERR | (2 << 8)
