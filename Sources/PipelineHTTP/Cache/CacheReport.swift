/// What a look through a cache's folder found, by ``HTTPCache/verify()`` or ``HTTPCache/repair()``.
public struct CacheReport: Sendable, Hashable {
    /// What is wrong, in the order in which it was found.
    public internal(set) var findings: [Finding] = []
    /// The stored responses that were looked at.
    public internal(set) var entries = 0
    /// The results next to them, made by an `Encode`, that were looked at.
    public internal(set) var variants = 0
    /// The bytes of the bodies and results that were read and compared with their checksums.
    public internal(set) var bytes = 0

    /// Whether nothing is wrong, or nothing any more.
    public var isSound: Bool { findings.allSatisfy(\.isRepaired) }

    /// Adds what a second look found that the first one didn't get to.
    mutating func add(_ later: CacheReport) {
        findings += later.findings.filter { finding in
            !findings.contains { $0.kind == finding.kind && $0.subject == finding.subject }
        }
        (entries, variants, bytes) = (later.entries, later.variants, later.bytes)
    }

    /// One thing that is wrong with a cache.
    public struct Finding: Sendable, Hashable {
        /// What kind of fault it is.
        public let kind: Kind
        /// The file or folder, or the URL of the stored response, redacted.
        public let subject: String
        /// What is wrong, and what a repair does about it or who has to.
        public let detail: String
        /// Whether ``HTTPCache/repair()`` has repaired it; always `false` from ``HTTPCache/verify()``.
        public internal(set) var isRepaired = false

        /// The response's row that is meant, where it is one.
        var generation: Int64?
        /// The result's row that is meant, where it is one.
        var variant: Int64?
    }

    /// The kinds of faults.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The folder or the database can't be read or written by this user, or is not a folder.
        case unusable
        /// Other users may read or enter a file or folder.
        case readableByOthers
        /// The file system has less than 1 MB left.
        case noRoom
        /// A newer version of this library has written the database.
        case newerVersion
        /// The database's file is damaged.
        case damagedDatabase
        /// The database's own numbers are wrong.
        case wrongTotals
        /// A row or its body is not what was stored.
        case damagedEntry
        /// A row's body file is gone.
        case missingBody
        /// A body belongs to no row: a process ended between the two.
        case orphanBody
        /// A result, made by an `Encode`, is not what was stored.
        case damagedVariant
        /// A result belongs to no response.
        case orphanVariant
        /// A response was stored more than a day from now: the clock was set back.
        case fromTheFuture
    }
}
