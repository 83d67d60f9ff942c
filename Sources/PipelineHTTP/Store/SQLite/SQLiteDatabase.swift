import CSQLite
import LibC
import Pipeline

/// One connection to a SQLite database, with the statements that it has prepared.
///
/// Queries call SQLite directly: on the same thread, and without objects for rows.
///
/// Unchecked, and safe: a connection is opened without SQLite's own locks and so belongs to one thread at a time. The
/// one that writes is used by the writing thread alone; those that read are out of ``ResponseConnections`` while a
/// thread uses them.
final class SQLiteDatabase: @unchecked Sendable {
    let connection: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    private var cancellation: WorkCancellation?
    /// How often a lock is tried, at intervals of a millisecond.
    private var tries: Int32 = patience
    /// The work for which this connection waits for locks. Once it is cancelled, waiting ends.
    var waits: WorkCancellation?

    /// Opens a database file that exists.
    /// - Parameter isImmutable: whether the file can't change, so that SQLite needs neither locks nor other files.
    init(path: String, readOnly: Bool, isImmutable: Bool = false) throws(SQLiteError) {
        var handle: OpaquePointer?
        let mode =
            (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | (isImmutable ? SQLITE_OPEN_URI : 0)
            | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = sqlite3_open_v2(isImmutable ? Self.immutable(path) : path, &handle, mode, nil)
        guard status == SQLITE_OK, let handle else {
            let error = SQLiteError(code: status, database: handle)
            sqlite3_close_v2(handle)
            throw error
        }
        connection = handle
        waitForLocks()
    }

    /// The name that makes SQLite treat a file as immutable.
    private static func immutable(_ path: String) -> String {
        let encoded = path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
        return "file:\(encoded)?immutable=1"
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(connection)
    }

    /// The number of pages in the log after this connection's last change, since ``watchLog()``.
    private(set) var pagesInLog = 0

    /// Starts counting the pages in the log. SQLite's own checkpoints have to be off.
    func watchLog() {
        sqlite3_wal_hook(
            connection,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<SQLiteDatabase>.fromOpaque(context).takeUnretainedValue().pagesInLog = Int(pages)
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Checkpoints the log into the database, so that the next change restarts it. Returns false if other reads or
    /// writes prevented that.
    ///
    /// The file keeps its length: while SQLite truncates it, no read can begin, and one that tries sleeps for up to a
    /// millisecond.
    func isLogRestarted(waitingAtMost milliseconds: Int32) -> Bool {
        tries = milliseconds
        defer { tries = Self.patience }
        guard (try? first("PRAGMA wal_checkpoint(RESTART)") { $0.integer(0) == 0 }) == true else { return false }
        pagesInLog = 0
        return true
    }

    private static let patience: Int32 = 5000

    /// Waits for other processes' locks in small steps. SQLite's own steps soon grow to 100 ms, in which a process that
    /// writes without pause takes the lock again and again, and no other can checkpoint the log.
    private func waitForLocks() {
        sqlite3_busy_handler(
            connection,
            { context, count in
                guard let context else { return 0 }
                let database = Unmanaged<SQLiteDatabase>.fromOpaque(context).takeUnretainedValue()
                guard count < database.tries, database.waits?.isCancelled != true else { return 0 }
                usleep(1000)
                return 1
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Lets a long statement end with an error once the work that it belongs to is cancelled. The connection retains
    /// `cancellation`.
    func stop(when cancellation: WorkCancellation) {
        self.cancellation = cancellation
        let context = Unmanaged.passUnretained(cancellation).toOpaque()
        sqlite3_progress_handler(
            connection, 10_000,
            { context in
                guard let context else { return 0 }
                return Unmanaged<WorkCancellation>.fromOpaque(context).takeUnretainedValue().isCancelled ? 1 : 0
            }, context)
    }

    /// The row id of the last row that was inserted.
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection) }

    /// How many rows the last statement changed.
    var changedRows: Int { Int(sqlite3_changes(connection)) }

    /// Runs one or more statements that return no rows and are needed once.
    func execute(_ sql: String) throws(SQLiteError) {
        try check(sqlite3_exec(connection, sql, nil, nil, nil))
    }

    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) {
        let statement = try prepare(sql, values)
        defer { sqlite3_reset(statement) }
        while try step(statement) {}
    }

    /// Returns the result of `read` for the first row, or `nil` if there is none.
    func first<Result>(
        _ sql: String, _ values: SQLiteValue..., read: (SQLiteRow) throws -> Result
    ) throws -> Result? {
        let statement = try prepare(sql, values)
        defer { sqlite3_reset(statement) }
        return try step(statement) ? try read(SQLiteRow(statement: statement)) : nil
    }

    /// Returns the results of `read` for all rows.
    func all<Result>(
        _ sql: String, _ values: SQLiteValue..., read: (SQLiteRow) throws -> Result
    ) throws -> [Result] {
        try all(sql, values, read: read)
    }

    /// Returns the results of `read` for all rows.
    func all<Result>(
        _ sql: String, _ values: [SQLiteValue], read: (SQLiteRow) throws -> Result
    ) throws -> [Result] {
        let statement = try prepare(sql, values)
        defer { sqlite3_reset(statement) }
        var results: [Result] = []
        while try step(statement) { results.append(try read(SQLiteRow(statement: statement))) }
        return results
    }

    private func prepare(_ sql: String, _ values: [SQLiteValue]) throws(SQLiteError) -> OpaquePointer {
        let statement = try statement(for: sql)
        for (index, value) in values.enumerated() { try check(bind(value, Int32(index + 1), statement)) }
        return statement
    }

    private func statement(for sql: String) throws(SQLiteError) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { throw SQLiteError(code: SQLITE_MISUSE, database: connection) }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: SQLiteValue, _ index: Int32, _ statement: OpaquePointer) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let value): return sqlite3_bind_int64(statement, index, value)
        case .text(let value): return sqlite3_bind_text(statement, index, value, -1, copied)
        // A blob without an address would be null.
        case .blob(let bytes) where bytes.isEmpty: return sqlite3_bind_zeroblob(statement, index, 0)
        case .blob(let bytes):
            return bytes.withUnsafeBytes {
                sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), copied)
            }
        }
    }

    /// Moves to the next row; returns whether there is one.
    private func step(_ statement: OpaquePointer) throws(SQLiteError) -> Bool {
        let status = sqlite3_step(statement)
        if status == SQLITE_ROW { return true }
        if status == SQLITE_DONE { return false }
        throw SQLiteError(code: status, database: connection)
    }

    private func check(_ status: Int32) throws(SQLiteError) {
        guard status == SQLITE_OK else { throw SQLiteError(code: status, database: connection) }
    }

    /// `SQLITE_TRANSIENT`, a macro that Swift can't read: SQLite takes a copy.
    private var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
