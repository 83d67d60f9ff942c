import FoundationEssentials
import HTTPTypes
import Pipeline

extension ResponseDatabase {
    /// What a search found.
    struct Found: Sendable {
        var response: StoredResponse?
        /// Why there is none.
        var reason = "nothing stored"
        /// Rows that are damaged and should go.
        var broken: [Int64] = []
        /// The one of them that would have been the answer.
        var damaged: Int64?
    }

    /// The most recent stored answer that fits a request's fields, whole and sound.
    /// - Throws: `CancellationError` where `cancellation` ended a wait for another process.
    func find(
        _ key: SourceKey, _ request: HTTPFields, of users: HTTPCache.Users, _ cancellation: WorkCancellation? = nil
    ) throws -> Found {
        let found = read(cancellation) { database in
            var found = try findOnly(key, request, users, database) ?? findAmong(key, request, users, database)
            // Replaced since the row was read, it has taken its file along: what has replaced it is meant.
            if let damaged = found.damaged, try !database.has(damaged) {
                found = try findAmong(key, request, users, database)
            }
            return found
        }
        if found == nil { try cancellation?.check() }
        return found ?? Found(reason: "the cache can't be used")
    }

    /// What most sources have: one answer, read with its body in one statement. `nil` where there are several, or the one
    /// needs a closer look.
    private func findOnly(
        _ key: SourceKey, _ request: HTTPFields, _ users: HTTPCache.Users, _ database: SQLiteDatabase
    ) throws -> Found? {
        let candidates = try database.candidates(for: key)
        guard let candidate = candidates.first else { return Found() }
        guard candidates.count == 1, let row = candidate.row, row.selecting.match(request, of: users) else {
            return nil
        }
        let body = row.bodyFile == nil ? candidate.body.flatMap { sound($0, row) } : self.body(in: row)
        return body.map { Found(response: row.response($0)) }
    }

    private func findAmong(
        _ key: SourceKey, _ request: HTTPFields, _ users: HTTPCache.Users, _ database: SQLiteDatabase
    ) throws -> Found {
        var found = Found()
        // One snapshot, and one lock of it, for the rows and their bodies.
        try database.run("BEGIN")
        defer { try? database.run("COMMIT") }
        let (rows, broken, others) = try database.responses(of: key, for: request, of: users)
        found.broken = broken
        guard let row = mostRecent(rows) else {
            if others > 0 { found.reason = "\(others) stored for other values of Vary's fields" }
            return found
        }
        let body = row.bodyFile == nil ? try database.body(row.generation).flatMap { sound($0, row) } : body(in: row)
        if let body {
            found.response = row.response(body)
        } else {
            found.reason = "what was stored is damaged"
            found.damaged = row.generation
            found.broken.append(row.generation)
        }
        return found
    }

    /// RFC 9111 section 4.1: the latest by `Date`. Rows come with the latest arrival first.
    private func mostRecent(_ rows: [ResponseRow]) -> ResponseRow? {
        // Of equal ones `max` gives the first.
        rows.max { date($0) < date($1) }
    }

    private func date(_ row: ResponseRow) -> Date { row.headers.date(.date, now: row.responseTime) ?? row.responseTime }

    /// The body in a row's file, or `nil` if it isn't there or isn't what was stored.
    private func body(in row: ResponseRow) -> [UInt8]? {
        row.bodyFile.flatMap {
            BodyFiles(folder: folder.bodiesPath).read($0, length: row.bodyLength, checksum: row.bodyChecksum)
        }
    }

    /// A body from the database, or `nil` if it isn't what was stored.
    private func sound(_ body: [UInt8], _ row: ResponseRow) -> [UInt8]? {
        body.count == row.bodyLength && BodyChecksum(of: body).value == row.bodyChecksum ? body : nil
    }
}
