import Logging
import Pipeline

/// The database behind the stored responses, opened when it is first needed, healed where it can be, and left aside
/// where it can't: a cache that fails never fails a load.
///
/// Everything here blocks and is called on threads of ours only.
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
    /// Until when nothing is changed, or no body is written, since another process keeps a lock.
    private let pauses = Lock((changes: Duration?.none, bodies: Duration?.none))

    init(folder: CacheFolder, bounds: StorageBounds, clock: any LoadClock, warnings: CacheWarnings) {
        self.folder = folder
        self.bounds = bounds
        self.clock = clock
        self.warnings = warnings
    }

    /// Runs queries; `nil` if the database stands aside or fails.
    func read<Result>(_ body: (SQLiteDatabase) throws -> Result) -> Result? { read(nil, body) }

    /// Runs queries; `nil` if the database stands aside or fails, or `cancellation` ends the wait for another's lock.
    func read<Result>(
        _ cancellation: WorkCancellation?, _ body: (SQLiteDatabase) throws -> Result
    ) -> Result? {
        attempt(cancellation) { try $0.read(cancellation, body) }
    }

    /// Runs changes as one transaction; `nil` if the database stands aside or fails, and then nothing has changed.
    func write<Result>(_ body: (ResponseTransaction) throws -> Result) -> Result? {
        if isPaused(pauses.withLock(\.changes)) { return nil }
        return attempt(nil) { connections in
            // The folder was removed, or another process put a new database in place of a damaged one.
            if connections.isMoved { throw DatabaseMoved() }
            guard let writer = connections.writer else { throw FolderReadOnly() }
            // Another process may have written much meanwhile and not got the chance.
            connections.shortenLog()
            let transaction = ResponseTransaction(database: writer)
            try writer.execute("BEGIN IMMEDIATE")
            let result: Result
            do {
                result = try body(transaction)
                try writer.execute("COMMIT")
            } catch {
                try? writer.execute("ROLLBACK")
                throw error
            }
            connections.shortenLog()
            // Only now does nothing point to them any more.
            let files = BodyFiles(folder: folder.bodiesPath)
            for name in transaction.abandonedFiles { files.remove(name) }
            return result
        }
    }

    /// Whether there may be files that no row points to, since this was last asked: at first what processes left that died
    /// in the past, later the bodies of a damaged database whose place a new one has taken.
    func takeStrays() -> Bool {
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

    /// Closes the connections; the next use opens them again.
    func close() {
        // Closed outside the lock, with the last reference.
        _ = condition.withLock { condition in
            defer { condition = .closed }
            return condition
        }
    }

    /// Opens the database, and so makes the folders; returns whether bodies may be written: no process is known to keep
    /// their lock.
    func mayWriteBodies(_ cancellation: WorkCancellation?) -> Bool {
        let mayWrite: Bool? = attempt(cancellation) { connections in
            if connections.writer == nil { throw FolderReadOnly() }
            return !isPaused(pauses.withLock(\.bodies))
        }
        return mayWrite == true
    }

    /// Writes no body for a moment: another process keeps their lock, and every one would wait for it in turn.
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
                // Its wait for another's lock ended with it.
                if cancellation?.isCancelled == true { return nil }
                guard heal(connections, after: error) else { return nil }
            }
        }
        return nil
    }

    /// The open database; opens it where it is closed. `nil` if it stands aside or `cancellation` ends the wait.
    private func connections(_ cancellation: WorkCancellation?) -> ResponseConnections? {
        if let decided = decided() { return decided.connections }
        var damage: SQLiteError?
        // The logger is the program's: it is told when no lock is held.
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
        // Waited for without any lock of this object's, so that each waiter can be cancelled.
        let lock = try FolderLock(folder.path, .alone, cancellation)
        defer { withExtendedLifetime(lock) {} }
        // Another thread may have been faster.
        if let decided = decided() { return decided.connections }
        let connections = try openSound(&damage)
        condition.withLock { $0 = .open(connections) }
        return connections
    }

    /// What is known already; `nil` if the database has yet to be opened.
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

    /// Whether it is worth another try.
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
            // Only the file that is known to be damaged is removed, not one that has taken its place.
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

/// The stored responses can be read, and not changed.
private struct FolderReadOnly: Error {}

/// The database that is open is not the one in the folder.
private struct DatabaseMoved: Error {}
