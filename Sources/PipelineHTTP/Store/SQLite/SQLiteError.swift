import CSQLite

/// What SQLite said no with.
struct SQLiteError: Error, CustomStringConvertible {
    /// SQLite's extended result code.
    let code: Int32
    /// SQLite's own words; they name tables, never values.
    let message: String

    /// Reads the code and the words of a connection's last failure.
    init(code: Int32, database: OpaquePointer?) {
        self.code = code
        message = String(cString: database.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
    }

    /// The result code without its details.
    var primaryCode: Int32 { code & 0xff }

    /// Whether the file is no longer, or never was, a sound database.
    var isCorruption: Bool {
        primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB || primaryCode == SQLITE_FORMAT
            || hasOtherTables || hasOtherValues
            // A file that ends before its pages do: somebody cut it.
            || code == SQLITE_IOERR_SHORT_READ_CODE
    }

    /// Whether a row holds what no version writes, and a change fails for it.
    private var hasOtherValues: Bool { primaryCode == SQLITE_MISMATCH || primaryCode == SQLITE_CONSTRAINT }

    /// Whether the tables are not those of the version that the file names: another program's, say. SQLite has no code of
    /// its own for that.
    private var hasOtherTables: Bool {
        primaryCode == SQLITE_ERROR && Self.otherTables.contains { message.contains($0) }
    }

    private static let otherTables = [
        "no such table", "no such column", "has no column named", "cannot join using column", "already exists",
    ]

    /// Whether the file system has no room.
    var isFull: Bool { primaryCode == SQLITE_FULL }

    /// Whether another connection holds what is needed.
    var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    var description: String { "\(message) (SQLite \(code))" }
}

/// `SQLITE_IOERR_SHORT_READ`, which is a macro that Swift can't read.
private let SQLITE_IOERR_SHORT_READ_CODE: Int32 = SQLITE_IOERR | (2 << 8)
