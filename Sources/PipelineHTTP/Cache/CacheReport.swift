/// The faults that ``HTTPCache/verify()`` or ``HTTPCache/repair()`` found in a cache's folder.
public struct CacheReport: Sendable, Hashable {
    /// The faults, in the order in which they were found.
    public internal(set) var findings: [Finding] = []
    /// The number of stored responses that were checked.
    public internal(set) var entries = 0
    /// The number of stored results of an `Encode` that were checked.
    public internal(set) var variants = 0
    /// The number of bytes of bodies and results that were compared with their checksums.
    public internal(set) var bytes = 0

    /// Describes faults, and how much was checked; none by default.
    public init(findings: [Finding] = [], entries: Int = 0, variants: Int = 0, bytes: Int = 0) {
        (self.findings, self.entries, self.variants, self.bytes) = (findings, entries, variants, bytes)
    }

    /// Whether no fault is left unrepaired.
    public var isSound: Bool { findings.allSatisfy(\.isRepaired) }

    /// Adds the findings of a second inspection that the first one didn't reach.
    mutating func add(_ later: CacheReport) {
        findings += later.findings.filter { finding in
            !findings.contains { $0.kind == finding.kind && $0.subject == finding.subject }
        }
        (entries, variants, bytes) = (later.entries, later.variants, later.bytes)
    }

    /// One fault of a cache.
    public struct Finding: Sendable, Hashable {
        /// The kind of fault.
        public let kind: Kind
        /// The file or folder, or the URL of the stored response, redacted.
        public let subject: String
        /// What is wrong, and what a repair does about it or the user has to do.
        public let detail: String
        /// Whether ``HTTPCache/repair()`` has repaired it; always `false` from ``HTTPCache/verify()``.
        public internal(set) var isRepaired = false

        /// The row of the response with the fault, if it has one.
        var generation: Int64?
        /// The row of the result with the fault, if it has one.
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
        /// The totals in the database are wrong.
        case wrongTotals
        /// A row or its body is damaged.
        case damagedEntry
        /// A row's body file is gone.
        case missingBody
        /// A body belongs to no row: a process ended between the two.
        case orphanBody
        /// A result, made by an `Encode`, is damaged.
        case damagedVariant
        /// A result belongs to no response.
        case orphanVariant
        /// A response was stored more than a day from now: the clock was set back.
        case fromTheFuture
    }
}
