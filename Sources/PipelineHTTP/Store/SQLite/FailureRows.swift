import Essentials
import Pipeline

extension SQLiteDatabase {
    /// The failed attempts at a source; `nil` if there are none.
    func failures(of key: SourceKey) throws -> FailedAttempts? {
        try first("SELECT status, attempts, latest FROM failures WHERE source = ?1", .blob(key.digest.bytes)) {
            FailedAttempts(
                status: Int($0.integer(0)), attempts: Int($0.integer(1)), latest: Date(microseconds: $0.integer(2)))
        }
    }
}

extension ResponseTransaction {
    /// Counts a failed attempt at a source.
    func recordFailure(status: Int, of key: SourceKey, at time: Date) throws {
        try database.run(
            """
            INSERT INTO failures VALUES (?1, ?2, 1, ?3)
            ON CONFLICT (source) DO UPDATE SET status = ?2, attempts = max(1, min(attempts, 1 << 31) + 1), latest = ?3
            """, .blob(key.digest.bytes), .integer(Int64(status)), .integer(time.microseconds))
        // Rows older than 30 days are of no use to any caller.
        try database.run("DELETE FROM failures WHERE latest < ?1", .integer((time - 30 * 86_400).microseconds))
    }

    /// Forgets the failed attempts at a source; at all sources for `nil`.
    func forgetFailures(of key: SourceKey?) throws {
        guard let key else { return try database.run("DELETE FROM failures") }
        try database.run("DELETE FROM failures WHERE source = ?1", .blob(key.digest.bytes))
    }

    /// Forgets the oldest failures beyond a limit, a batch at a time.
    /// - Returns: how many were forgotten.
    @discardableResult
    func forgetFailures(beyond limit: Int) throws -> Int {
        // SQLite counts by pages here, which is fast.
        let count = try database.first("SELECT count(*) FROM failures") { Int($0.integer(0)) } ?? 0
        guard count > limit else { return 0 }
        // A few more than necessary, so that the next failures are recorded without this.
        let excess = min(count - limit + limit / 64, Self.failuresAtOnce)
        try database.run(
            "DELETE FROM failures WHERE source IN (SELECT source FROM failures ORDER BY latest LIMIT ?1)",
            .integer(Int64(excess)))
        return excess
    }

    /// How many failures one transaction forgets.
    static let failuresAtOnce = 20_000
}
