import FoundationEssentials
import HTTPTypes
import Pipeline

/// The queries on stored responses.
extension SQLiteDatabase {
    /// How many responses a source has at most, for different values of the fields that `Vary` names: a client can send any
    /// number of them. The least recently used go first.
    static let mostVarying = 64

    /// What a source has for a request, latest answer first. Rows that make no sense are named instead, and those for
    /// other values of `Vary`'s fields are counted; no more of them is read.
    /// - Parameters:
    ///   - request: the request's fields; `nil` for all that the source has.
    ///   - users: Whose request it is.
    func responses(
        of key: SourceKey, for request: HTTPFields?, of users: HTTPCache.Users
    ) throws -> (rows: [ResponseRow], broken: [Int64], others: Int) {
        var (rows, broken, others): ([ResponseRow], [Int64], Int) = ([], [], 0)
        // The index has these in this order. Rows beyond the bound are another program's.
        let found = try all(
            "SELECT generation, selecting FROM responses WHERE source = ?1 ORDER BY generation DESC LIMIT ?2",
            .blob(key.digest.bytes), .integer(Int64(Self.mostVarying))
        ) { (generation: $0.integer(0), selecting: SelectingFields(encoded: $0.bytes(1))) }
        for (generation, selecting) in found {
            if let request, let selecting, !selecting.match(request, of: users) {
                others += 1
            } else if selecting != nil, let row = try response(generation, key) {
                rows.append(row)
            } else {
                broken.append(generation)
            }
        }
        return (rows.sorted { ($0.responseTime, $0.generation) > ($1.responseTime, $1.generation) }, broken, others)
    }

    private func response(_ generation: Int64, _ key: SourceKey) throws -> ResponseRow? {
        try first("SELECT \(ResponseRow.columns) FROM responses WHERE generation = ?1", .integer(generation)) {
            ResponseRow($0, key: key)
        } ?? nil
    }

    /// A source's only response, with its body where that lies in the database, in one statement; if it has several, the
    /// first two.
    func candidates(for key: SourceKey) throws -> [(row: ResponseRow?, body: [UInt8]?)] {
        var isFirst = true
        return try all(
            """
            SELECT \(ResponseRow.columns), bytes FROM responses LEFT JOIN bodies USING (generation) WHERE source = ?1
            LIMIT 2
            """, .blob(key.digest.bytes)
        ) { row in
            defer { isFirst = false }
            guard isFirst else { return (nil, nil) }
            return (ResponseRow(row, key: key), row.isNull(14) ? nil : row.bytes(14))
        }
    }

    /// A body that lies in the database; `nil` if there is none.
    func body(_ generation: Int64) throws -> [UInt8]? {
        try first("SELECT bytes FROM bodies WHERE generation = ?1", .integer(generation)) { $0.bytes(0) }
    }

    /// Whether one of these target URIs was made invalid after a request for it was sent.
    func isInvalid(_ targets: [String], askedAt requestTime: Date, now: Date) throws -> Bool {
        // Once the oldest were dropped, nobody knows what became invalid before the rest.
        let oldest = try first(
            "SELECT min(time) FROM invalidations WHERE (SELECT count(*) FROM invalidations) >= ?1",
            .integer(RecentInvalidations.mostStored)
        ) { $0.optionalInteger(0) }
        if let oldest = oldest.flatMap(\.self), requestTime.microseconds < oldest, oldest <= now.microseconds {
            return true
        }
        return try targets.contains { target in
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

    /// The numbers of rows that fulfil a condition on `?1`, in their order, behind one and up to another.
    func generations(
        after generation: Int64, upTo latest: Int64, where condition: String, _ value: SQLiteValue, limit: Int64
    ) throws -> [Int64] {
        try all(
            """
            SELECT generation FROM responses WHERE \(condition) AND generation > ?2 AND generation <= ?3
            ORDER BY generation LIMIT ?4
            """, value, .integer(generation), .integer(latest), .integer(limit)
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
        let accessed = max(row.stored.microseconds, latest?.clampedSum(1) ?? .min)
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
        try remove(
            where: """
                generation IN (SELECT generation FROM responses WHERE source = ?1
                    ORDER BY accessed DESC, generation DESC LIMIT -1 OFFSET ?2)
                """, .blob(row.key.digest.bytes), .integer(Int64(SQLiteDatabase.mostVarying)))
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
    /// - Returns: The generations that were removed; `nil` if one of them was asked for later, and so is the newer answer.
    func makeRoom(
        for row: ResponseRow, _ request: HTTPFields, of users: HTTPCache.Users, now: Date
    ) throws -> Set<Int64>? {
        try makeRoom(for: row.key, request, of: users, askedAt: row.requestTime, now: now)
    }

    /// Removes what fits a request, unless it was asked for later.
    /// - Returns: The generations that were removed; `nil` if something was asked for later.
    @discardableResult
    func makeRoom(
        for key: SourceKey, _ request: HTTPFields, of users: HTTPCache.Users, askedAt requestTime: Date, now: Date
    ) throws -> Set<Int64>? {
        var removed: Set<Int64>? = []
        for old in try database.responses(of: key, for: request, of: users).rows {
            // One from the future is from before the clock was set back.
            if old.requestTime > requestTime, old.requestTime <= now + 2 {
                removed = nil
            } else {
                try remove(old.generation)
                removed?.insert(old.generation)
            }
        }
        return removed
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
        // SQLite counts pages here, not rows.
        let count = try database.first("SELECT count(*) FROM invalidations") { $0.integer(0) } ?? 0
        guard count > RecentInvalidations.mostStored else { return }
        try database.run(
            """
            DELETE FROM invalidations
            WHERE target_hash IN (SELECT target_hash FROM invalidations ORDER BY time LIMIT ?1)
            """, .integer(count - RecentInvalidations.mostStored))
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

    /// Forgets the oldest failures beyond a number, some at a time.
    /// - Returns: how many were forgotten.
    @discardableResult
    func forgetFailures(beyond limit: Int) throws -> Int {
        // SQLite counts pages here, not rows.
        let count = try database.first("SELECT count(*) FROM failures") { Int($0.integer(0)) } ?? 0
        guard count > limit else { return 0 }
        // A few more than have to, so that the next one is recorded without this.
        let excess = min(count - limit + limit / 64, Self.failuresAtOnce)
        try database.run(
            "DELETE FROM failures WHERE source IN (SELECT source FROM failures ORDER BY latest LIMIT ?1)",
            .integer(Int64(excess)))
        return excess
    }

    /// How many failures one transaction forgets.
    static let failuresAtOnce = 20_000

    /// Removes least recently used rows if there is more than the bounds allow, some at a time: others write in between.
    ///
    /// A little more goes than has to, for rows that were stored together lie on the same pages: to remove many costs not
    /// much more than to remove one, and then the next changes need not.
    /// - Returns: whether the bounds hold.
    func evict(_ bounds: StorageBounds) throws -> Bool {
        var allowed = bounds
        for _ in 0..<Self.rowsAtOnce {
            let totals = try database.totals()
            // Half-empty pages count too, but not what an empty database has anyway.
            let pages = (try database.bytesInUse()).clampedSum(-bounds.emptyDatabase)
            let used = max(totals.bytes, pages.clampedSum(totals.fileBytes))
            guard used > allowed.storedBytes || allowed.entryLimit.map({ totals.entries > $0 }) ?? false else {
                // Many are free where bodies in files have taken the rows' place.
                return try giveBackPages(keeping: bounds.freeBytes / 16_384)
            }
            // Strangers may choose what fails: no response goes for that.
            let forgotten = try forgetFailures(beyond: bounds.failures)
            if forgotten == Self.failuresAtOnce { return false }
            if forgotten > 0 { continue }
            if try remove(where: "true ORDER BY accessed, generation LIMIT 1") == 0 {
                // Nothing is left that could go: either all is free pages, or the totals are wrong.
                try recount()
                return try giveBackPages(keeping: bounds.freeBytes / 16_384)
            }
            allowed = bounds.evicted
        }
        return false
    }

    /// Gives free pages back to the file system, some at a time.
    /// - Returns: whether no more than `kept` are left.
    func giveBackPages(keeping kept: Int) throws -> Bool {
        let excess = try database.freePages() - kept
        guard excess > 0 else { return true }
        try database.run("PRAGMA incremental_vacuum(\(min(excess, Self.pagesAtOnce)))")
        return excess <= Self.pagesAtOnce
    }

    /// How many rows one transaction evicts.
    static let rowsAtOnce = 64

    /// How many pages one transaction gives back.
    static let pagesAtOnce = 64

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
