import Essentials
import HTTPTypes
import Pipeline

/// The queries on stored responses.
extension SQLiteDatabase {
    /// The stored responses under a key, the most recently used first. For malformed rows it returns their generations.
    func responses(of key: SourceKey) throws -> (rows: [ResponseRow], broken: [Int64]) {
        var (rows, broken): ([(row: ResponseRow, accessed: Int64)], [Int64]) = ([], [])
        // The index has this order. Rows beyond the limit are another program's.
        let found = try all(
            "SELECT \(ResponseRow.columns), accessed FROM responses WHERE source = ?1 ORDER BY generation DESC LIMIT ?2",
            .blob(key.digest.bytes), .integer(Int64(HTTPCache.mostVarying))
        ) { (generation: $0.integer(0), row: ResponseRow($0, key: key), accessed: $0.integer(14)) }
        for (generation, row, accessed) in found {
            if let row { rows.append((row, accessed)) } else { broken.append(generation) }
        }
        return (rows.sorted { $0.accessed > $1.accessed }.map(\.row), broken)
    }

    /// The stored response of a generation, without its body; `nil` if there is none, or it is malformed.
    func head(_ generation: Int64) throws -> StoredResponse? {
        try first("SELECT \(ResponseRow.columns), source FROM responses WHERE generation = ?1", .integer(generation)) {
            row in BLAKE2bDigest(bytes: row.bytes(14)).flatMap { ResponseRow(row, key: SourceKey(digest: $0))?.head }
        } ?? nil
    }

    /// A source's only response, with its body if that is in the database, in one statement. If it has several, two
    /// elements, of which the second is empty.
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

    /// A body in the database; `nil` if there is none.
    func body(_ generation: Int64) throws -> [UInt8]? {
        try first("SELECT bytes FROM bodies WHERE generation = ?1", .integer(generation)) { $0.bytes(0) }
    }

    /// Whether one of these target URIs was made invalid after a request for it was sent.
    func isInvalid(_ targets: [String], askedAt requestTime: Date, now: Date) throws -> Bool {
        // Once the oldest were dropped, it is unknown what became invalid before the rest.
        let oldest = try first(
            "SELECT min(time) FROM invalidations WHERE (SELECT count(*) FROM invalidations) >= ?1",
            .integer(RecentInvalidations.mostStored)
        ) { $0.optionalInteger(0) }
        if let oldest = oldest.flatMap(\.self),
            RecentInvalidations.isInvalid(askedAt: requestTime, invalidatedAt: oldest, now: now)
        {
            return true
        }
        return try targets.contains { target in
            let time = try first("SELECT time FROM invalidations WHERE target_hash = ?1", .integer(targetHash(target)))
            {
                $0.integer(0)
            }
            return time.map { RecentInvalidations.isInvalid(askedAt: requestTime, invalidatedAt: $0, now: now) }
                ?? false
        }
    }

    /// Whether a row exists.
    func has(_ generation: Int64) throws -> Bool {
        try first("SELECT 1 FROM responses WHERE generation = ?1", .integer(generation)) { _ in true } ?? false
    }

    /// Summaries of the rows after a generation, in the order of their generations.
    func entries(after generation: Int64, limit: Int) throws -> [CacheEntry] {
        try all(
            "SELECT \(CacheEntry.columns) FROM responses WHERE generation > ?1 ORDER BY generation LIMIT ?2",
            .integer(generation), .integer(Int64(max(0, limit)))
        ) { CacheEntry($0) }.compactMap(\.self)
    }

    /// The summary of a row; `nil` if it is gone.
    func entry(_ generation: Int64) throws -> CacheEntry? {
        try first("SELECT \(CacheEntry.columns) FROM responses WHERE generation = ?1", .integer(generation)) {
            CacheEntry($0)
        } ?? nil
    }

    /// The numbers and sizes of the stored responses.
    func totals() throws -> (entries: Int, bytes: Int, files: Int, fileBytes: Int) {
        try first("SELECT entries, bytes, files, file_bytes FROM totals") {
            (Int($0.integer(0)), Int($0.integer(1)), Int($0.integer(2)), Int($0.integer(3)))
        } ?? (0, 0, 0, 0)
    }

    /// The bytes of the database's pages that are in use.
    func bytesInUse() throws -> Int {
        let pages = try first("PRAGMA page_count") { $0.integer(0) } ?? 0
        return (Int(pages) - (try freePages())) * 16_384
    }

    /// The number of free pages in the database's file.
    func freePages() throws -> Int { try first("PRAGMA freelist_count") { Int($0.integer(0)) } ?? 0 }
}

/// The changes to stored responses.
extension ResponseTransaction {
    /// Adds a row, with its body if that has no file.
    /// - Returns: its number, and the time at which it counts as used.
    func insert(_ row: ResponseRow, body: [UInt8]) throws -> (generation: Int64, accessed: Int64) {
        let head = row.head
        // Later than every other, even if the clock was set back: a new response isn't the first to be evicted.
        let latest = try database.first("SELECT max(accessed) FROM responses") { $0.optionalInteger(0) } ?? nil
        let accessed = max(head.stored.microseconds, latest?.clampedSum(1) ?? .min)
        try database.run(
            """
            INSERT INTO responses (generation, source, target, target_hash, status, fields, selecting, request_time,
                response_time, stored, accessed, expires, fresh_until, size, body_length, body_checksum, body_file, redirects)
            VALUES ((SELECT generation + 1 FROM totals), ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                ?16, ?17)
            """,
            .blob(head.key.digest.bytes), .text(head.target), .integer(targetHash(head.target)),
            .integer(Int64(head.status)), .blob(StoredFields.encode(head.headers)), .blob(head.selecting.encoded),
            .integer(head.requestTime.microseconds), .integer(head.responseTime.microseconds),
            .integer(head.stored.microseconds), .integer(accessed), .integer(optional: head.expires?.microseconds),
            .integer(optional: head.freshUntil?.microseconds), .integer(Int64(row.size)),
            .integer(Int64(row.bodyLength)), .integer(row.bodyChecksum), row.bodyFile.map(SQLiteValue.text) ?? .null,
            head.redirects.map { .blob($0.encoded) } ?? .null)
        let generation = database.lastInsertedRow
        try noteTargets(of: generation, head)
        if row.bodyFile == nil {
            try database.run("INSERT INTO bodies VALUES (?1, ?2)", .integer(generation), .blob(body))
        }
        // The cache bounds what it stores; these are rows of another program.
        try remove(
            where: """
                generation IN (SELECT generation FROM responses WHERE source = ?1
                    ORDER BY accessed DESC, generation DESC LIMIT -1 OFFSET ?2)
                """, .blob(head.key.digest.bytes), .integer(Int64(HTTPCache.mostVarying)))
        return (generation, accessed)
    }

    /// Replaces the fields, times and redirects of a row.
    func update(_ head: StoredResponse) throws {
        let row = ResponseRow(head: head, bodyLength: 0, bodyChecksum: 0)
        try database.run(
            """
            UPDATE responses SET fields = ?2, selecting = ?3, request_time = ?4, response_time = ?5, stored = ?6,
                accessed = max(accessed, ?6), expires = ?7, fresh_until = ?8, size = ?9 + body_length, redirects = ?10
            WHERE generation = ?1
            """,
            .integer(head.generation), .blob(StoredFields.encode(head.headers)), .blob(head.selecting.encoded),
            .integer(head.requestTime.microseconds), .integer(head.responseTime.microseconds),
            .integer(head.stored.microseconds), .integer(optional: head.expires?.microseconds),
            .integer(optional: head.freshUntil?.microseconds), .integer(Int64(row.size)),
            head.redirects.map { .blob($0.encoded) } ?? .null)
        try database.run("DELETE FROM redirects WHERE generation = ?1", .integer(head.generation))
        try noteTargets(of: head.generation, head)
    }

    private func noteTargets(of generation: Int64, _ head: StoredResponse) throws {
        // Those besides the row's own: redirects and tags.
        for target in head.targets.dropFirst() {
            try database.run(
                "INSERT INTO redirects VALUES (?1, ?2)", .integer(targetHash(target)), .integer(generation))
        }
    }

    /// Removes the responses from a target URI, and notes for the fetches of all processes that it was made invalid.
    /// Drops notes that are older than any fetch.
    /// - Returns: How many rows were removed.
    func invalidate(_ target: String, at now: Date) throws -> Int {
        let same = try database.all(
            "SELECT generation, target FROM responses WHERE target_hash = ?1", .integer(targetHash(target))
        ) { $0.text(1) == target ? $0.integer(0) : nil }
        let behind = try database.all(
            "SELECT generation FROM redirects WHERE target_hash = ?1", .integer(targetHash(target))
        ) { $0.integer(0) }
        let removed = try Set(same.compactMap(\.self) + behind).count { try remove($0) }
        try noteInvalidation(of: target, at: now)
        return removed
    }

    private func noteInvalidation(of target: String, at now: Date) throws {
        try database.run(
            "DELETE FROM invalidations WHERE time < ?1 OR time > ?2",
            .integer((now - RecentInvalidations.memory).microseconds),
            .integer((now + RecentInvalidations.memory).microseconds))
        try database.run(
            "INSERT OR REPLACE INTO invalidations VALUES (?1, ?2)", .integer(targetHash(target)),
            .integer(now.microseconds))
        // SQLite counts by pages here, which is fast.
        let count = try database.first("SELECT count(*) FROM invalidations") { $0.integer(0) } ?? 0
        guard count > RecentInvalidations.mostStored else { return }
        try database.run(
            """
            DELETE FROM invalidations
            WHERE target_hash IN (SELECT target_hash FROM invalidations ORDER BY time LIMIT ?1)
            """, .integer(count - RecentInvalidations.mostStored))
    }

    /// Removes the rows that fulfil a condition, and returns their number.
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

    /// Removes least recently used rows if the bounds are exceeded, a batch at a time, so that other changes run in
    /// between.
    ///
    /// It removes a few more than necessary. Rows that were stored together are on the same pages, so removing many
    /// costs little more than removing one, and the next changes needn't evict.
    /// - Returns: whether the bounds hold.
    func evict(_ bounds: StorageBounds) throws -> Bool {
        var allowed = bounds
        for _ in 0..<Self.rowsAtOnce {
            let totals = try database.totals()
            // Half-empty pages count too, but not those of an empty database.
            let pages = (try database.bytesInUse()).clampedSum(-bounds.emptyDatabase)
            let used = max(totals.bytes, pages.clampedSum(totals.fileBytes))
            guard used > allowed.storedBytes || allowed.entryLimit.map({ totals.entries > $0 }) ?? false else {
                // Many are free if bodies in files have replaced rows.
                return try giveBackPages(keeping: bounds.freeBytes / 16_384)
            }
            // Strangers may cause failures, so these never displace a response.
            let forgotten = try forgetFailures(beyond: bounds.failures)
            if forgotten == Self.failuresAtOnce { return false }
            if forgotten > 0 { continue }
            if try remove(where: "true ORDER BY accessed, generation LIMIT 1") == 0 {
                // No row is left: either all pages are free, or the totals are wrong.
                try recount()
                return try giveBackPages(keeping: bounds.freeBytes / 16_384)
            }
            allowed = bounds.evicted
        }
        return false
    }

    /// Returns free pages to the file system, a batch at a time.
    /// - Returns: whether no more than `kept` are left.
    func giveBackPages(keeping kept: Int) throws -> Bool {
        let excess = try database.freePages() - kept
        guard excess > 0 else { return true }
        try database.run("PRAGMA incremental_vacuum(\(min(excess, Self.pagesAtOnce)))")
        return excess <= Self.pagesAtOnce
    }

    /// How many rows one transaction evicts.
    static let rowsAtOnce = 64

    /// How many pages one transaction returns.
    static let pagesAtOnce = 64

    /// Marks rows as used.
    func touch(_ uses: [ProductUse]) throws {
        for use in uses {
            try database.run(
                "UPDATE responses SET accessed = ?2 WHERE generation = ?1 AND accessed < ?2", .integer(use.generation),
                .integer(use.time.microseconds))
        }
    }
}

/// The hash by which rows of a target URI are found.
func targetHash(_ target: String) -> Int64 {
    BLAKE2bDigest(of: target).bytes.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
}
