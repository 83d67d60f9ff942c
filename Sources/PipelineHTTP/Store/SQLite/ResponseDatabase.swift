import Logging
import Pipeline

/// The database of stored responses. It is opened when it is first needed, repaired if possible, and otherwise not used
/// for a while: a cache that fails never fails a load.
///
/// Everything here blocks and is called only on our own threads.
final class ResponseDatabase: Sendable {
    private enum Condition {
        case closed
        case open(ResponseConnections)
        case aside(until: Duration)
    }

    let folder: CacheFolder
    private let bounds: StorageBounds
    private let clock: any LoadClock
    private let warnings: CacheWarnings
    private let condition = Lock(Condition.closed)
    private let mayHaveStrays = Lock(true)
    /// Until when no change, or no body, is written, since another process holds a lock.
    private let pauses = Lock((changes: Duration?.none, bodies: Duration?.none))

    init(folder: CacheFolder, bounds: StorageBounds, clock: any LoadClock, warnings: CacheWarnings) {
        self.folder = folder
        self.bounds = bounds
        self.clock = clock
        self.warnings = warnings
    }

    /// Runs queries; `nil` if the database can't be used or fails.
    func read<Result>(_ body: (SQLiteDatabase) throws -> Result) -> Result? { read(nil, body) }

    /// Runs queries; `nil` if the database can't be used or fails, or `cancellation` ends the wait for another
    /// process's lock.
    func read<Result>(
        _ cancellation: WorkCancellation?, _ body: (SQLiteDatabase) throws -> Result
    ) -> Result? {
        attempt(cancellation) { try $0.read(cancellation, body) }
    }

    /// Runs changes as one transaction; `nil` if the database can't be used or fails, in which case nothing has
    /// changed.
    func write<Result>(_ body: (ResponseTransaction) throws -> Result) -> Result? {
        if isPaused(pauses.withLock(\.changes)) { return nil }
        return attempt(nil) { connections in
            // The folder was removed, or another process replaced a damaged database.
            if connections.isMoved { throw DatabaseMoved() }
            guard let writer = connections.writer else { throw FolderReadOnly() }
            // Another process may have written much without a chance to shorten the log.
            connections.shortenLog()
            let transaction = ResponseTransaction(database: writer)
            let result: Result
            do {
                result = try commit(body, transaction)
            } catch let error as SQLiteError where error.isFull && connections.restartLog() {
                // On a full file system the log can't grow, but its start is free again, and a removal needs little.
                result = try commit(body, transaction)
            }
            connections.shortenLog()
            // Only now does no row point to them.
            let files = BodyFiles(folder: folder.bodiesPath)
            for name in transaction.abandonedFiles { files.remove(name) }
            return result
        }
    }

    private func commit<Result>(
        _ body: (ResponseTransaction) throws -> Result, _ transaction: ResponseTransaction
    ) throws -> Result {
        transaction.abandonedFiles = []
        try transaction.database.execute("BEGIN IMMEDIATE")
        do {
            let result = try body(transaction)
            try transaction.database.execute("COMMIT")
            return result
        } catch {
            try? transaction.database.execute("ROLLBACK")
            throw error
        }
    }

    /// Returns whether there may be new files without a row since the last call: at first those of processes that died,
    /// later the bodies of a damaged database that was replaced.
    func claimStrays() -> Bool {
        mayHaveStrays.withLock { mayHaveStrays in
            defer { mayHaveStrays = false }
            return mayHaveStrays
        }
    }

    /// Runs queries if the database is open; `nil` if it isn't, or fails.
    func readIfOpen<Result>(_ body: (SQLiteDatabase) throws -> Result) -> Result? {
        guard case .open(let connections) = condition.withLock(\.self) else { return nil }
        return try? connections.read(nil, body)
    }

    /// Whether nothing has been opened since the start or the last ``close()``.
    var isClosed: Bool { condition.withLock { if case .closed = $0 { true } else { false } } }

    /// Closes the connections; the next use opens them again.
    func close() {
        // Closed outside the lock, with the last reference.
        _ = condition.withLock { condition in
            defer { condition = .closed }
            return condition
        }
    }

    /// Opens the database, which makes the folders. Returns whether bodies may be written: no process is known to hold
    /// their lock.
    func mayWriteBodies(_ cancellation: WorkCancellation?) -> Bool {
        let mayWrite: Bool? = attempt(cancellation) { connections in
            if connections.writer == nil { throw FolderReadOnly() }
            return !isPaused(pauses.withLock(\.bodies))
        }
        return mayWrite == true
    }

    /// Stops writing bodies for a while: another process holds their lock, and each body would wait for it in turn.
    func pauseBodies() {
        let end = clock.uptime + Self.pause
        pauses.withLock { $0.bodies = end }
    }

    private func isPaused(_ end: Duration?) -> Bool { end.map { clock.uptime < $0 } ?? false }

    private static let pause = Duration.seconds(10)

    private func attempt<Result>(
        _ cancellation: WorkCancellation?, _ body: (ResponseConnections) throws -> Result
    ) -> Result? {
        for _ in 0..<2 {
            guard let connections = connections(cancellation) else { return nil }
            do {
                return try body(connections)
            } catch {
                // The cancellation ended the wait for another process's lock.
                if cancellation?.isCancelled == true { return nil }
                guard heal(connections, after: error) else { return nil }
            }
        }
        return nil
    }

    /// Returns the open database, and opens it if it is closed. `nil` if it can't be used or `cancellation` ends the
    /// wait.
    private func connections(_ cancellation: WorkCancellation?) -> ResponseConnections? {
        if let decided = decided() { return decided.connections }
        var damage: SQLiteError?
        // The logger is the program's, so it is called when no lock is held.
        defer { if let damage { warnings.damaged(folder.databasePath, damage) } }
        do {
            return try open(cancellation, &damage)
        } catch is CancellationError {
            return nil
        } catch {
            let end = clock.uptime + .seconds(60)
            condition.withLock { if case .closed = $0 { $0 = .aside(until: end) } }
            warnings.standsAside(folder.path, error)
            return nil
        }
    }

    private func open(_ cancellation: WorkCancellation?, _ damage: inout SQLiteError?) throws -> ResponseConnections? {
        try folder.create()
        // No lock of this object is held meanwhile, so that each waiter can be cancelled.
        let lock = try FolderLock(folder.path, .alone, cancellation)
        defer { withExtendedLifetime(lock) {} }
        // Another thread may have been faster.
        if let decided = decided() { return decided.connections }
        let connections = try openSound(&damage)
        condition.withLock { $0 = .open(connections) }
        return connections
    }

    /// Returns the open connections, or none if the database can't be used; `nil` if it has yet to be opened.
    private func decided() -> (connections: ResponseConnections?, Void)? {
        let now = clock.uptime
        return condition.withLock { condition in
            if case .open(let connections) = condition { return (connections, ()) }
            if case .aside(let end) = condition {
                if now < end { return (nil, ()) }
                condition = .closed
            }
            return nil
        }
    }

    /// Opens the database, replacing it if it is damaged. The folder is locked.
    private func openSound(_ damage: inout SQLiteError?) throws -> ResponseConnections {
        do {
            return try ResponseConnections(folder, bounds)
        } catch let error as SQLiteError where error.isCorruption {
            damage = error
            remove()
        }
        return try ResponseConnections(folder, bounds)
    }

    /// Reacts to an error; returns whether to try again.
    private func heal(_ connections: ResponseConnections, after error: any Error) -> Bool {
        if connections.isMoved {
            drop(connections)
            return true
        }
        guard let error = error as? SQLiteError else {
            if error is FolderReadOnly {
                warnings.readOnly(folder.path)
                return false
            }
            warnings.failed(folder.path, error)
            return false
        }
        if error.isCorruption {
            warnings.damaged(folder.databasePath, error)
            // Only the damaged file is removed, not one that has replaced it.
            if let lock = try? FolderLock(folder.path, .alone) {
                if !connections.isMoved { remove() }
                withExtendedLifetime(lock) {}
            }
            drop(connections)
            return true
        }
        if error.isBusy {
            let end = clock.uptime + Self.pause
            pauses.withLock { $0.changes = end }
        }
        warnings.failed(folder.path, error)
        return false
    }

    private func remove() {
        folder.removeDatabase()
        mayHaveStrays.withLock(isInner: true) { $0 = true }
    }

    private func drop(_ dropped: ResponseConnections) {
        condition.withLock { condition in
            if case .open(let connections) = condition, connections === dropped { condition = .closed }
        }
    }
}

/// The stored responses can be read but not changed.
private struct FolderReadOnly: Error {}

/// The open database is no longer the one in the folder.
private struct DatabaseMoved: Error {}
