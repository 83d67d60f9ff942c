public import FoundationEssentials
public import Pipeline

/// How often in a row the origin answered a source with an error.
public struct FailedAttempts: Sendable, Hashable {
    /// The latest error's status (RFC 9110 sections 15.5 and 15.6).
    public let status: Int
    /// How many attempts have failed since the last success.
    public let attempts: Int
    /// When the latest one failed.
    public let latest: Date
}

extension HTTPCache {
    /// The failed attempts at a source; `nil` if the last one succeeded.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    public func failures(of key: SourceKey) async throws -> FailedAttempts? {
        try await threads.run { [database] _ in database.read { try $0.failures(of: key) } ?? nil }
    }

    /// Counts an attempt that the origin answered with an error. Of the sources that failed the latest 10,000 are remembered,
    /// fewer in a cache of less than 82 MB. What is not the origin's word, such as a time-out, is no
    /// such attempt.
    /// - Returns: the attempts so far, this one included; `nil` if the store failed.
    @discardableResult
    public func recordFailure(status: Int, of key: SourceKey) async -> FailedAttempts? {
        let now = clock.now
        return await change { [bounds] transaction in
            try transaction.database.run(
                """
                INSERT INTO failures VALUES (?1, ?2, 1, ?3)
                ON CONFLICT (source) DO UPDATE SET status = ?2, attempts = max(1, min(attempts, 1 << 31) + 1), latest = ?3
                """, .blob(key.digest.bytes), .integer(Int64(status)), .integer(now.microseconds))
            // Small and soon worthless: what is older than this was forgotten by every caller long ago.
            try transaction.database.run(
                "DELETE FROM failures WHERE latest < ?1", .integer((now - 30 * 86_400).microseconds))
            try transaction.forgetFailures(beyond: bounds.failures)
            return try transaction.database.failures(of: key)
        }.flatMap(\.self)
    }

    /// Resets the attempts at a source.
    package func forgetFailures(of key: SourceKey) async { _ = await change { try $0.forgetFailures(of: key) } }
}

extension ResponseTransaction {
    /// Resets the attempts at a source.
    func forgetFailures(of key: SourceKey) throws {
        try database.run("DELETE FROM failures WHERE source = ?1", .blob(key.digest.bytes))
    }
}

extension SQLiteDatabase {
    fileprivate func failures(of key: SourceKey) throws -> FailedAttempts? {
        try first("SELECT status, attempts, latest FROM failures WHERE source = ?1", .blob(key.digest.bytes)) {
            FailedAttempts(
                status: Int($0.integer(0)), attempts: Int($0.integer(1)), latest: Date(microseconds: $0.integer(2)))
        }
    }
}
