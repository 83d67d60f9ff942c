/// The limits of a folder, and how its bytes are divided between stored responses and SQLite's write-ahead log.
struct StorageBounds: Sendable {
    /// The limit of all bytes, as the caller set it.
    let byteLimit: Int
    /// The limit of rows; `nil` if there is none.
    let entryLimit: Int?

    init(byteLimit: Int, entryLimit: Int?) {
        self.byteLimit = max(0, byteLimit)
        self.entryLimit = entryLimit.map { max(0, $0) }
    }

    /// The length to which the log may grow before it is checkpointed into the database and restarted. It counts
    /// towards the limit: a sixteenth, at most 16 MB.
    var logBytes: Int { max(smallestLog, min(16 << 20, byteLimit / 16)) }

    /// The bytes that are left for rows, bodies and their pages.
    var storedBytes: Int { byteLimit - min(16 << 20, byteLimit / 16) }

    /// The bounds down to which an eviction goes: a 128th less.
    var evicted: StorageBounds {
        StorageBounds(byteLimit: byteLimit - byteLimit / 128, entryLimit: entryLimit.map { $0 - $0 / 128 })
    }

    /// How many failures are remembered, which take about 128 bytes each: a 64th of the bytes, but at least 100 and at
    /// most 10,000.
    var failures: Int { min(10_000, max(100, byteLimit / 64 / 128)) }

    /// Free pages up to this many bytes stay in the database, for the next rows.
    var freeBytes: Int { logBytes / 4 }

    /// The bytes of an almost empty database, which don't count towards a small limit.
    var emptyDatabase: Int { byteLimit < 16 << 20 ? Self.largestEmptyDatabase : 0 }

    /// The most bytes of pages that a database without a row uses.
    static let largestEmptyDatabase = 1 << 20
}

/// Restarting the log with nearly every change would cost more than it saves. With a small limit the log is extra, as
/// is an empty database.
private let smallestLog = 1 << 20
