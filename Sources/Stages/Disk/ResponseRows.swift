import FoundationEssentials
import HTTPTypes
import Pipeline

/// The queries on stored responses.
extension SQLiteDatabase {
    /// What a source has, one for each variant, latest answer first. Rows that make no sense are named instead.
    func responses(of key: SourceKey) throws -> (rows: [ResponseRow], broken: [Int64]) {
        var broken: [Int64] = []
        let rows = try all(
            "SELECT \(ResponseRow.columns) FROM responses WHERE source = ?1 ORDER BY response_time DESC, generation DESC",
            .blob(key.digest.bytes)
        ) { row -> ResponseRow? in
            let response = ResponseRow(row, key: key)
            if response == nil { broken.append(row.integer(0)) }
            return response
        }
        return (rows.compactMap(\.self), broken)
    }

    /// What a source has, with the first row's body where that lies in the database: all in one statement.
    func candidates(for key: SourceKey) throws -> [(row: ResponseRow?, body: [UInt8]?)] {
        var isFirst = true
        return try all(
            "SELECT \(ResponseRow.columns), bytes FROM responses LEFT JOIN bodies USING (generation) WHERE source = ?1",
            .blob(key.digest.bytes)
        ) { row in
            defer { isFirst = false }
            return (ResponseRow(row, key: key), isFirst && !row.isNull(14) ? row.bytes(14) : nil)
        }
    }

    /// A body that lies in the database; `nil` if there is none.
    func body(_ generation: Int64) throws -> [UInt8]? {
        try first("SELECT bytes FROM bodies WHERE generation = ?1", .integer(generation)) { $0.bytes(0) }
    }

    /// Whether one of these target URIs was made invalid after a request for it was sent.
    func isInvalid(_ targets: [String], askedAt requestTime: Date, now: Date) throws -> Bool {
        try targets.contains { target in
            let time = try first("SELECT time FROM invalidations WHERE target_hash = ?1", .integer(targetHash(target)))
            {
                $0.integer(0)
            }
            return time.map { requestTime.microseconds < $0 && $0 <= now.microseconds } ?? false
        }
    }

    /// Whether a row is there.
    func has(_ generation: Int64) throws -> Bool {
        try first("SELECT 1 FROM responses WHERE generation = ?1", .integer(generation)) { _ in true } ?? false
    }

    /// The numbers of rows that fulfil a condition on `?1`, in their order, behind a given one.
    func generations(
        after generation: Int64, where condition: String, _ value: SQLiteValue, limit: Int64
    ) throws -> [Int64] {
        try all(
            "SELECT generation FROM responses WHERE \(condition) AND generation > ?2 ORDER BY generation LIMIT ?3",
            value,
            .integer(generation), .integer(limit)
        ) { $0.integer(0) }
    }

    /// What is stored, in numbers.
    func totals() throws -> (entries: Int, bytes: Int, files: Int, fileBytes: Int) {
        try first("SELECT entries, bytes, files, file_bytes FROM totals") {
            (Int($0.integer(0)), Int($0.integer(1)), Int($0.integer(2)), Int($0.integer(3)))
        } ?? (0, 0, 0, 0)
    }

    /// The bytes of the database's pages that hold something.
    func bytesInUse() throws -> Int {
        let pages = try first("PRAGMA page_count") { $0.integer(0) } ?? 0
        return (Int(pages) - (try freePages())) * 16_384
    }

    /// The pages of the database's file that hold nothing.
    func freePages() throws -> Int { try first("PRAGMA freelist_count") { Int($0.integer(0)) } ?? 0 }
}

/// The changes to stored responses.
extension ResponseTransaction {
    /// Adds a row, with its body where that has no file.
    /// - Returns: its number, and the time at which it counts as used.
    func insert(_ row: ResponseRow, body: [UInt8]) throws -> (generation: Int64, accessed: Int64) {
        // Behind every other, also where the clock was set back: what is new is not the first to go.
        let latest = try database.first("SELECT max(accessed) FROM responses") { $0.optionalInteger(0) } ?? nil
        let accessed = max(row.stored.microseconds, latest.map { $0 + 1 } ?? .min)
        try database.run(
            """
            INSERT INTO responses (generation, source, target, target_hash, status, fields, selecting, request_time,
                response_time, stored, accessed, expires, fresh_until, size, body_length, body_checksum, body_file, redirects)
            VALUES ((SELECT generation + 1 FROM totals), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                ?16, ?17)
            """,
            .blob(row.key.digest.bytes), .text(row.target), .integer(targetHash(row.target)),
            .integer(Int64(row.status)), .blob(StoredFields.encode(row.headers)), .blob(row.selecting.encoded),
            .integer(row.requestTime.microseconds), .integer(row.responseTime.microseconds),
            .integer(row.stored.microseconds), .integer(accessed), .integer(optional: row.expires?.microseconds),
            .integer(optional: row.freshUntil?.microseconds), .integer(Int64(row.size)),
            .integer(Int64(row.bodyLength)), .integer(row.bodyChecksum), row.bodyFile.map(SQLiteValue.text) ?? .null,
            row.redirects.map { .blob($0.encoded) } ?? .null)
        let generation = database.lastInsertedRow
        try noteRedirects(of: generation, row)
        if row.bodyFile == nil {
            try database.run("INSERT INTO bodies VALUES (?1, ?2)", .integer(generation), .blob(body))
        }
        return (generation, accessed)
    }

    /// Gives a row what a confirmation changes: its fields, times and expiry.
    /// - Returns: false if it is gone, or a later request has confirmed it.
    func update(_ row: ResponseRow, now: Date) throws -> Bool {
        try database.run(
            """
            UPDATE responses SET fields = ?2, selecting = ?3, request_time = ?4, response_time = ?5, stored = ?6,
                accessed = max(accessed, ?6), expires = ?7, fresh_until = ?8, size = ?9, redirects = ?10
            WHERE generation = ?1 AND (request_time <= ?4 OR request_time > ?11)
            """,
            .integer(row.generation), .blob(StoredFields.encode(row.headers)), .blob(row.selecting.encoded),
            .integer(row.requestTime.microseconds), .integer(row.responseTime.microseconds),
            .integer(row.stored.microseconds), .integer(optional: row.expires?.microseconds),
            .integer(optional: row.freshUntil?.microseconds), .integer(Int64(row.size)),
            row.redirects.map { .blob($0.encoded) } ?? .null, .integer((now + 2).microseconds))
        guard database.changedRows > 0 else { return false }
        try database.run("DELETE FROM redirects WHERE generation = ?1", .integer(row.generation))
        try noteRedirects(of: row.generation, row)
        return true
    }

    private func noteRedirects(of generation: Int64, _ row: ResponseRow) throws {
        for target in row.redirects?.targets ?? [] {
            try database.run(
                "INSERT INTO redirects VALUES (?1, ?2)", .integer(targetHash(target)), .integer(generation))
        }
    }

    /// Removes what a new row replaces: what fits the same request.
    /// - Returns: false if one of them was asked for later, and so is the newer answer.
    func makeRoom(for row: ResponseRow, _ request: HTTPFields, now: Date) throws -> Bool {
        try makeRoom(for: row.key, request, askedAt: row.requestTime, now: now)
    }

    /// Removes what fits a request, unless it was asked for later.
    /// - Returns: false if something was.
    @discardableResult
    func makeRoom(for key: SourceKey, _ request: HTTPFields, askedAt requestTime: Date, now: Date) throws -> Bool {
        var isFree = true
        for old in try database.responses(of: key).rows where old.selecting.match(request) {
            // One from the future is from before the clock was set back.
            if old.requestTime > requestTime, old.requestTime <= now + 2 {
                isFree = false
            } else {
                try remove(old.generation)
            }
        }
        return isFree
    }

    /// Notes that a target URI was made invalid, for the fetches of all processes, and forgets what no fetch can be
    /// waiting for.
    func invalidate(_ target: String, at now: Date) throws {
        try database.run(
            "DELETE FROM invalidations WHERE time < ?1 OR time > ?2",
            .integer((now - RecentInvalidations.memory).microseconds),
            .integer((now + RecentInvalidations.memory).microseconds))
        try database.run(
            "INSERT OR REPLACE INTO invalidations VALUES (?1, ?2)", .integer(targetHash(target)),
            .integer(now.microseconds))
    }

    /// Removes the rows that fulfil a condition, and counts them.
    @discardableResult
    func remove(where condition: String, _ values: SQLiteValue...) throws -> Int {
        let rows = try database.all("SELECT generation, body_file FROM responses WHERE \(condition)", values) {
            (generation: $0.integer(0), file: $0.text(1))
        }
        for row in rows {
            try database.run("DELETE FROM responses WHERE generation = ?1", .integer(row.generation))
            if let file = row.file { abandonedFiles.append(file) }
        }
        return rows.count
    }

    /// Removes one row.
    @discardableResult
    func remove(_ generation: Int64) throws -> Bool {
        try remove(where: "generation = ?1", .integer(generation)) > 0
    }

    /// Removes least recently used rows if there is more than the bounds allow, some at a time: others write in between.
    ///
    /// A little more goes than has to, for rows that were stored together lie on the same pages: to remove many costs not
    /// much more than to remove one, and then the next changes need not.
    /// - Returns: whether the bounds hold.
    func evict(_ bounds: StorageBounds) throws -> Bool {
        var allowed = bounds
        for _ in 0..<64 {
            let totals = try database.totals()
            // Half-empty pages count too, but not what an empty database has anyway.
            let used = max(totals.bytes, try database.bytesInUse() + totals.fileBytes - bounds.emptyDatabase)
            guard used > allowed.storedBytes || allowed.entryLimit.map({ totals.entries > $0 }) ?? false,
                totals.entries > 0
            else {
                // Many are free where bodies in files have taken the rows' place.
                return try giveBackPages(keeping: bounds.freeBytes / 16_384)
            }
            try remove(where: "true ORDER BY accessed, generation LIMIT 1")
            allowed = bounds.evicted
        }
        return false
    }

    /// Gives free pages back to the file system, some at a time.
    /// - Returns: whether no more than `kept` are left.
    func giveBackPages(keeping kept: Int) throws -> Bool {
        let excess = try database.freePages() - kept
        guard excess > 0 else { return true }
        try database.run("PRAGMA incremental_vacuum(\(min(excess, 64)))")
        return excess <= 64
    }

    /// Marks rows as used.
    func touch(_ accesses: [Int64: Int64]) throws {
        for (generation, time) in accesses {
            try database.run(
                "UPDATE responses SET accessed = ?2 WHERE generation = ?1 AND accessed < ?2", .integer(generation),
                .integer(time))
        }
    }
}

/// The number by which rows of a target URI are found.
func targetHash(_ target: String) -> Int64 {
    Digest(of: target).bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
}
