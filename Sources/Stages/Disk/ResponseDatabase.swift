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

    init(folder: CacheFolder, bounds: StorageBounds, clock: any LoadClock, warnings: CacheWarnings) {
        self.folder = folder
        self.bounds = bounds
        self.clock = clock
        self.warnings = warnings
    }

    /// Runs queries; `nil` if the database stands aside or fails.
    func read<Result>(_ body: (SQLiteDatabase) throws -> Result) -> Result? {
        attempt { try $0.read(body) }
    }

    /// Runs changes as one transaction; `nil` if the database stands aside or fails, and then nothing has changed.
    func write<Result>(_ body: (ResponseTransaction) throws -> Result) -> Result? {
        attempt { connections in
            // The folder was removed, or another process put a new database in place of a damaged one.
            if connections.isMoved { throw DatabaseMoved() }
            // Another process may have written much meanwhile and not got the chance.
            connections.shortenLog()
            let transaction = ResponseTransaction(database: connections.writer)
            try connections.writer.execute("BEGIN IMMEDIATE")
            let result: Result
            do {
                result = try body(transaction)
                try connections.writer.execute("COMMIT")
            } catch {
                try? connections.writer.execute("ROLLBACK")
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
        return try? connections.read(body)
    }

    /// Closes the connections; the next use opens them again.
    func close() {
        // Closed outside the lock, with the last reference.
        _ = condition.withLock { condition in
            defer { condition = .closed }
            return condition
        }
    }

    private func attempt<Result>(_ body: (ResponseConnections) throws -> Result) -> Result? {
        for _ in 0..<2 {
            guard let connections = connections() else { return nil }
            do {
                return try body(connections)
            } catch {
                guard heal(connections, after: error) else { return nil }
            }
        }
        return nil
    }

    private func connections() -> ResponseConnections? {
        let now = clock.uptime
        var damage: SQLiteError?
        var failure: (any Error)?
        // The logger is the program's: it is told after the lock.
        defer {
            if let damage { warnings.damaged(folder.databasePath, damage) }
            if let failure { warnings.standsAside(folder.path, failure) }
        }
        // Held while the database opens: only threads of ours wait here, and none of them could go on without it.
        return condition.withLock { condition in
            if case .open(let connections) = condition { return connections }
            if case .aside(let end) = condition, now < end { return nil }
            do {
                let connections = try openSound(&damage)
                condition = .open(connections)
                return connections
            } catch {
                failure = error
                condition = .aside(until: now + .seconds(60))
                return nil
            }
        }
    }

    private func openSound(_ damage: inout SQLiteError?) throws -> ResponseConnections {
        do {
            return try ResponseConnections(folder, bounds)
        } catch let error as SQLiteError where error.isCorruption {
            damage = error
            let lock = try FolderLock(folder.path, .alone)
            defer { withExtendedLifetime(lock) {} }
            // Another process may have been faster, and then its new database is sound.
            do {
                try SQLiteDatabase(path: folder.databasePath, readOnly: false).checkSound()
            } catch let error as SQLiteError where error.isCorruption {
                remove()
            }
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
        warnings.failed(folder.path, error)
        return false
    }

    private func remove() {
        folder.removeDatabase()
        mayHaveStrays.withInnerLock { $0 = true }
    }

    private func drop(_ dropped: ResponseConnections) {
        condition.withLock { condition in
            if case .open(let connections) = condition, connections === dropped { condition = .closed }
        }
    }
}

/// The database that is open is not the one in the folder.
private struct DatabaseMoved: Error {}

extension SQLiteDatabase {
    /// Whether the file can be read as a database at all, and has the tables that it should have or can be given them.
    fileprivate func checkSound() throws {
        _ = try first("SELECT count(*) FROM sqlite_schema") { _ in true }
        try ResponseSchema.migrate(self)
    }
}
