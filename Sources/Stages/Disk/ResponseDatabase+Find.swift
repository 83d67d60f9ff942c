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
    }

    /// The most recent stored answer that fits a request's fields, whole and sound.
    func find(_ key: SourceKey, _ request: HTTPFields) -> Found {
        let found = read { database in
            var found = Found()
            // One snapshot, and one lock of it, for the row and its body.
            try database.run("BEGIN")
            defer { try? database.run("COMMIT") }
            let (rows, broken) = try database.responses(of: key)
            found.broken = broken
            let fitting = rows.filter { $0.selecting.match(request) }
            guard let row = mostRecent(fitting) else {
                if !rows.isEmpty { found.reason = "\(rows.count) stored for other values of Vary's fields" }
                return found
            }
            if let body = try body(of: row, database) {
                found.response = row.response(body)
            } else if try database.has(row.generation) {
                found.reason = "what was stored is damaged"
                found.broken.append(row.generation)
            }
            return found
        }
        return found ?? Found(reason: "the cache can't be used")
    }

    /// RFC 9111 section 4.1: the latest by `Date`. Rows come with the latest arrival first.
    private func mostRecent(_ rows: [ResponseRow]) -> ResponseRow? {
        guard rows.count > 1 else { return rows.first }
        return rows.reversed().max { date($0) < date($1) }
    }

    private func date(_ row: ResponseRow) -> Date { row.headers.date(.date, now: row.responseTime) ?? row.responseTime }

    /// A row's body, or `nil` if it isn't there or isn't what was stored.
    private func body(of row: ResponseRow, _ database: SQLiteDatabase) throws -> [UInt8]? {
        if let file = row.bodyFile {
            return BodyFiles(folder: folder.bodiesPath).read(file, length: row.bodyLength, checksum: row.bodyChecksum)
        }
        guard let body = try database.body(row.generation), body.count == row.bodyLength,
            BodyChecksum(of: body).value == row.bodyChecksum
        else { return nil }
        return body
    }
}
