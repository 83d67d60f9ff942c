import LibC
import Pipeline
import Synchronization

/// The connections to one database file: one that writes, and one for each thread that reads.
final class ResponseConnections: Sendable {
    /// The connection that writes, which only the writing thread uses. `nil` if the folder is read-only.
    let writer: SQLiteDatabase?

    private let path: String
    private let isImmutable: Bool
    private let bounds: StorageBounds
    private let identity: FileIdentity?
    private let pageSize: Int
    /// The length in bytes at which the log is checkpointed into the database.
    private let longestLog: Atomic<Int>
    private let idle = Lock<[SQLiteDatabase]>([])

    /// Opens the database of a folder, and makes or migrates it if necessary.
    ///
    /// The caller holds the folder's exclusive lock: SQLite fails as "busy" at once if two processes turn on the log at
    /// the same time.
    /// - Throws: `FileError`, `SQLiteError`, `SchemaTooNew`, `FolderRefusal`.
    init(_ folder: CacheFolder, _ bounds: StorageBounds) throws {
        self.bounds = bounds
        longestLog = Atomic(bounds.logBytes / 2)
        path = folder.databasePath
        guard !folder.isReadOnly else {
            (writer, pageSize, isImmutable, identity) = (nil, 0, !folder.hasLog, FileIdentity(path))
            let reader = try openReader()
            try ResponseSchema.check(reader)
            idle.withLock { $0.append(reader) }
            return
        }
        try folder.createDatabase()
        isImmutable = false
        let writer = try SQLiteDatabase(path: path, readOnly: false)
        if try ResponseSchema.isOtherProgram(writer) { throw FolderRefusal(path, .otherDatabase) }
        // Temporary files of SQLite would hold parts of responses outside of this folder.
        try writer.execute(
            """
            PRAGMA page_size = 16384;
            PRAGMA auto_vacuum = INCREMENTAL;
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = NORMAL;
            PRAGMA journal_size_limit = \(bounds.logBytes);
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA temp_store = MEMORY;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            """)
        writer.watchLog()
        pageSize = try writer.first("PRAGMA page_size") { Int($0.integer(0)) } ?? 16384
        try ResponseSchema.migrate(writer)
        identity = FileIdentity(path)
        self.writer = writer
    }

    deinit {
        // The last connection to close checkpoints the log, which a read-only one can't.
        let idle = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        withExtendedLifetime(idle) {}
    }

    /// Whether the open file no longer has its name: the folder was removed, or another process replaced a damaged
    /// database.
    var isMoved: Bool { identity == nil || FileIdentity(path) != identity }

    /// Runs queries on a connection that no other thread uses meanwhile.
    func read<Result>(
        _ cancellation: WorkCancellation?, _ body: (SQLiteDatabase) throws -> Result
    ) throws -> Result {
        let database = try idle.withLock { $0.popLast() } ?? openReader()
        // A connection that failed is not used again.
        database.waits = cancellation
        let result = try body(database)
        database.waits = nil
        idle.withLock { $0.append(database) }
        return result
    }

    /// Checkpoints the log into the database and restarts it, if it has grown long. On the writing thread only.
    ///
    /// SQLite does so by itself, but restarts the log only when there are no readers. With several busy processes there
    /// always are, and the attempts of one process keep another's from succeeding.
    func shortenLog() {
        guard let writer else { return }
        let length = writer.pagesInLog * pageSize
        guard length > longestLog.load(ordering: .relaxed) else { return }
        // Waits for readers, which are done soon. If one isn't, as in a stopped process, later changes don't wait for
        // it each time.
        let isRestarted = writer.isLogRestarted(waitingAtMost: 200)
        longestLog.store(isRestarted ? bounds.logBytes / 2 : length + bounds.logBytes / 2, ordering: .relaxed)
    }

    /// Restarts the log, whatever its length. On the writing thread only.
    /// - Returns: Whether it was possible.
    func restartLog() -> Bool { writer?.isLogRestarted(waitingAtMost: 200) ?? false }

    private func openReader() throws(SQLiteError) -> SQLiteDatabase {
        let database = try SQLiteDatabase(path: path, readOnly: true, isImmutable: isImmutable)
        // Without mmap, which would save about 5 of 45 microseconds: with it, a truncated file or a bad sector ends the
        // process instead of failing the query.
        try database.execute(
            """
            PRAGMA mmap_size = 0;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            """)
        return database
    }
}
