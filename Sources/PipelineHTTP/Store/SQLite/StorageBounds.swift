/// What stored responses may take, and how that is shared between what is stored and SQLite's write-ahead log.
struct StorageBounds: Sendable {
    /// All bytes, as the caller set them.
    let byteLimit: Int
    /// How many rows there may be; `nil` for any number.
    let entryLimit: Int?

    init(byteLimit: Int, entryLimit: Int?) {
        self.byteLimit = max(0, byteLimit)
        self.entryLimit = entryLimit.map { max(0, $0) }
    }

    /// The length to which the log may grow before it is brought into the database and restarted. It counts against the
    /// bound: a sixteenth, at most 16 MB.
    var logBytes: Int { max(smallestLog, min(16 << 20, byteLimit / 16)) }

    /// What is left for rows, bodies and the pages that they lie on.
    var storedBytes: Int { byteLimit - min(16 << 20, byteLimit / 16) }

    /// To what is evicted once there is more than the bounds allow: a 128th less.
    var evicted: StorageBounds {
        StorageBounds(byteLimit: byteLimit - byteLimit / 128, entryLimit: entryLimit.map { $0 - $0 / 128 })
    }

    /// How many failures are remembered, which take about 128 bytes each: a 64th of the bytes, and no more than anybody
    /// needs.
    var failures: Int { min(10_000, max(100, byteLimit / 64 / 128)) }

    /// Free pages up to this many bytes stay in the database, for the next rows.
    var freeBytes: Int { logBytes / 4 }

    /// What the pages of a database with few entries come to: a small bound is for what one stores.
    var emptyDatabase: Int { byteLimit < 16 << 20 ? 1 << 20 : 0 }
}

/// A log that is cut with nearly every change would cost more than it saves: with a small bound it comes on top, as does
/// what an empty database takes.
private let smallestLog = 1 << 20
