import Glibc
import Pipeline
import Synchronization

/// The connections to one database file: one that writes and as many that read as there are threads that do.
final class ResponseConnections: Sendable {
    /// The connection that writes; the writing thread's alone. `nil` where the folder can only be read.
    let writer: SQLiteDatabase?

    private let path: String
    private let isImmutable: Bool
    private let bounds: StorageBounds
    private let identity: FileIdentity?
    private let pageSize: Int
    /// The length in bytes at which the log is brought into the database.
    private let longestLog: Atomic<Int>
    private let idle = Lock<[SQLiteDatabase]>([])

    /// Opens the database of a folder, making it or bringing it to this version where need be.
    ///
    /// The caller holds the folder's lock alone: SQLite answers "busy" at once where two processes turn on its log at the
    /// same time.
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
        // What SQLite would put in temporary files holds parts of responses, and would lie outside of this folder.
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
        // The last connection to close brings the log into the database, which one that only reads can't.
        let idle = idle.withLock { idle in
            defer { idle = [] }
            return idle
        }
        withExtendedLifetime(idle) {}
    }

    /// Whether the file that is open no longer stands under its name: the folder was removed, or another process put a
    /// new database in place of a damaged one.
    var isMoved: Bool { identity == nil || FileIdentity(path) != identity }

    /// Runs queries on a connection that nobody else uses meanwhile.
    func read<Result>(
        _ cancellation: WorkCancellation?, _ body: (SQLiteDatabase) throws -> Result
    ) throws -> Result {
        let database = try idle.withLock { $0.popLast() } ?? openReader()
        // One that failed is not used again.
        database.waits = cancellation
        let result = try body(database)
        database.waits = nil
        idle.withLock { $0.append(database) }
        return result
    }

    /// Brings the log into the database and restarts it, if it has grown long. On the writing thread only.
    ///
    /// SQLite would do so by itself, but restarts the log only at a moment at which nobody reads, and with several busy
    /// processes there is none; and the attempts of one process keep another's from succeeding.
    func shortenLog() {
        guard let writer else { return }
        let length = writer.pagesInLog * pageSize
        guard length > longestLog.load(ordering: .relaxed) else { return }
        // Waits for readers, which are done soon. Where one isn't, as in a process that was stopped, it is not waited for
        // with every change.
        let isRestarted = writer.isLogRestarted(waitingAtMost: 200)
        longestLog.store(isRestarted ? bounds.logBytes / 2 : length + bounds.logBytes / 2, ordering: .relaxed)
    }

    private func openReader() throws(SQLiteError) -> SQLiteDatabase {
        let database = try SQLiteDatabase(path: path, readOnly: true, isImmutable: isImmutable)
        // Not through mmap, which would save some 5 of 45 microseconds: there a file that is cut short, or a bad sector,
        // is not an error of SQLite's but the end of the process.
        try database.execute(
            """
            PRAGMA mmap_size = 0;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            """)
        return database
    }
}
