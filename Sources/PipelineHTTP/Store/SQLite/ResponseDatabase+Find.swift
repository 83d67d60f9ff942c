import Pipeline

extension ResponseDatabase {
    /// The result of a search.
    struct Found: Sendable {
        var finding: StoreFinding
        /// Damaged rows, which should be removed.
        var broken: [Int64] = []
    }

    /// Finds the response that `choose` chooses under a key, with its body checked.
    /// - Throws: `CancellationError` if `cancellation` ended a wait for another process.
    func find(
        _ key: SourceKey, _ cancellation: WorkCancellation? = nil,
        choose: ([StoredResponse]) -> StoredResponse?
    ) throws -> Found {
        let found = read(cancellation) { database in
            let found = try findOnly(key, database, choose) ?? findAmong(key, database, choose)
            // If it was replaced since its row was read, its file is gone, and its replacement is wanted.
            guard case .damaged = found.finding, let damaged = found.broken.last, try !database.has(damaged) else {
                return found
            }
            return try findAmong(key, database, choose)
        }
        if found == nil { try cancellation?.check() }
        return found ?? Found(finding: .unavailable)
    }

    /// Finds the only response of a source, the usual case, with its body in one statement. `nil` if there are several,
    /// or the only one may be damaged.
    private func findOnly(
        _ key: SourceKey, _ database: SQLiteDatabase, _ choose: ([StoredResponse]) -> StoredResponse?
    ) throws -> Found? {
        let candidates = try database.candidates(for: key)
        guard let candidate = candidates.first else { return Found(finding: .nothing(among: 0)) }
        guard candidates.count == 1, let row = candidate.row else { return nil }
        guard choose([row.head]) != nil else { return Found(finding: .nothing(among: 1)) }
        let body = row.bodyFile == nil ? candidate.body.flatMap { sound($0, row) } : self.body(in: row)
        return body.map { Found(finding: .found(row.response($0))) }
    }

    private func findAmong(
        _ key: SourceKey, _ database: SQLiteDatabase, _ choose: ([StoredResponse]) -> StoredResponse?
    ) throws -> Found {
        // One snapshot, with one lock, for the rows and their bodies.
        try database.run("BEGIN")
        defer { try? database.run("COMMIT") }
        let (rows, broken) = try database.responses(of: key)
        guard let chosen = choose(rows.map(\.head)),
            let row = rows.first(where: { $0.head.generation == chosen.generation })
        else { return Found(finding: .nothing(among: rows.count), broken: broken) }
        let body =
            row.bodyFile == nil ? try database.body(chosen.generation).flatMap { sound($0, row) } : body(in: row)
        guard let body else { return Found(finding: .damaged, broken: broken + [chosen.generation]) }
        return Found(finding: .found(row.response(body)), broken: broken)
    }

    /// The body in a row's file, or `nil` if it is missing or damaged.
    private func body(in row: ResponseRow) -> [UInt8]? {
        row.bodyFile.flatMap {
            BodyFiles(folder: folder.bodiesPath).read($0, length: row.bodyLength, checksum: row.bodyChecksum)
        }
    }

    /// A body from the database, or `nil` if it is damaged.
    private func sound(_ body: [UInt8], _ row: ResponseRow) -> [UInt8]? {
        body.count == row.bodyLength && BodyChecksum(of: body).value == row.bodyChecksum ? body : nil
    }
}
