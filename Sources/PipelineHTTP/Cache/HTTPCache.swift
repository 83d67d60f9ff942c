public import HTTPTypes
public import Logging
public import Pipeline

/// The one owner of stored responses: what HTTP lets a client keep (RFC 9111), on disk, bounded, shared by processes.
///
/// The stages of a pipeline are views on it; it can also be used alone, for any content type and status. It opens its
/// folder when it is first used, on a thread of its own. A cache that can't be used never fails a load: lookups miss,
/// what is to be stored is dropped, and one warning in the log says what to do.
///
/// ## Users
///
/// RFC 9111 knows a private cache, which has one user, and a shared cache, which must not store what is `private`. A
/// server that loads images for its users is neither: it stores what is `private`, and keeps its users apart. That is
/// the default, ``Users/several``: credentials are part of every key (`CredentialFields`), and a `private` response
/// answers only requests with the same fields, except those that say nothing of the user, such as `Accept` or
/// `User-Agent`. Where users differ in nothing that the origin is sent, give each a `partition`. A program that acts for
/// one user says so, and follows RFC 9111 alone:
///
/// ```swift
/// let cache = HTTPCache(folder: folder, users: .one)
/// ```
public final class HTTPCache: Sendable {
    /// The folder in which everything lies.
    public let folder: String
    /// The bytes that the folder may take, the database's log included; the least recently used answers go first, a
    /// few more than have to. What an empty database takes, up to 2 MB, comes on top.
    public let byteLimit: Int
    /// The answers that may be stored; `nil` for any number.
    public let entryLimit: Int?
    /// Whether it keeps to the rules of a shared cache (RFC 9111 section 1.2.3), which stores nothing `private`.
    public let isShared: Bool
    /// Whose requests it answers.
    public let users: Users

    /// What it stores, and for how long.
    package var policy: StoringPolicy { StoringPolicy(isShared: isShared, users: users) }

    let bounds: StorageBounds
    let clock: any LoadClock
    let logger: Logger
    let warnings: CacheWarnings
    let database: ResponseDatabase
    let writer: ResponseWriter
    let threads = BlockingThreads(name: "pipeline-disk", count: 3)
    /// For what may wait for a folder's lock or the medium: lookups never wait behind it.
    let fileThreads = BlockingThreads(name: "pipeline-files", count: 2)
    let leases: LeaseQueue
    let leaseSlots = LeaseSlots()
    /// The latest look for files that dead processes left, which may still be under way.
    private let sweep = Lock<Task<Void, Never>?>(nil)
    let accesses = AccessRecord()
    let counts = Lock((hits: 0, misses: 0))
    let invalidations = RecentInvalidations()
    let productCaches = ProductCaches()

    /// `$XDG_CACHE_HOME/pipeline`, or `~/.cache/pipeline`.
    public static var defaultFolder: String { CacheFolder.standardPath }

    /// Returns whether a folder holds a cache. Makes nothing and opens nothing.
    public static func exists(in folder: String) -> Bool { CacheFolder(path: folder).hasDatabase }

    /// Describes a cache; nothing is opened yet.
    /// - Parameters:
    ///   - folder: where it lies; made with mode 0700 if it is missing. A folder that can only be read gives what it has,
    ///     and nothing new is stored.
    ///   - byteLimit: the bytes that the folder may take; 1 GB by default.
    ///   - entryLimit: the answers that may be stored; any number by default.
    ///   - isShared: whether to keep to the rules of a shared cache; `false` by default.
    ///   - users: whose requests it answers; ``Users/several`` by default.
    ///   - clock: the time by which freshness is calculated.
    ///   - logger: is told once of each kind of trouble.
    public init(
        folder: String, byteLimit: Int = 1_000_000_000, entryLimit: Int? = nil, isShared: Bool = false,
        users: Users = .several,
        clock: any LoadClock = SystemClock(), logger: Logger = Logger(label: "pipeline.cache")
    ) {
        self.folder = folder
        self.byteLimit = byteLimit
        self.entryLimit = entryLimit
        self.isShared = isShared
        self.users = users
        bounds = StorageBounds(byteLimit: byteLimit, entryLimit: entryLimit)
        self.clock = clock
        self.logger = logger
        warnings = CacheWarnings(logger)
        database = ResponseDatabase(
            folder: CacheFolder(path: folder), bounds: bounds, clock: clock, warnings: warnings)
        writer = ResponseWriter(database)
        leases = LeaseQueue(CacheFolder(path: folder))
    }

    /// What the cache has for a request, judged now.
    ///
    /// Of several answers that fit the request's fields the most recent counts (RFC 9111 section 4.1). An answer whose
    /// body is damaged reads as a miss and is removed.
    /// - Parameters:
    ///   - key: the source that is asked for.
    ///   - headers: the request's fields as they will be sent: `Vary` selects among them, and their `Cache-Control`
    ///     is the caller's wish (section 5.2.1).
    ///   - expiry: who decides how long an answer is fresh.
    ///   - rules: `.http` to set `expiry` aside.
    ///   - priority: how urgent the lookup is against others.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    public func lookup(
        _ key: SourceKey, headers: HTTPFields = [:], expiry: Expiry = .standard, rules: CacheRules = .asRequested,
        priority: LoadPriority = .normal
    ) async throws -> CacheLookup {
        try await look(key, headers: headers, expiry: expiry, rules: rules, priority: priority, isCounted: true)
    }

    /// What ``lookup(_:headers:expiry:rules:priority:)`` gives.
    /// - Parameter isCounted: false for a load that has been counted.
    func look(
        _ key: SourceKey, headers: HTTPFields, expiry: Expiry, rules: CacheRules, priority: LoadPriority,
        isCounted: Bool
    ) async throws -> CacheLookup {
        let found = try await threads.run(priority: priority) { [database, users] in
            try database.find(key, headers, of: users, $0)
        }
        if !found.broken.isEmpty {
            logger.debug("Removing damaged entries", metadata: ["key": "\(key)", "count": "\(found.broken.count)"])
            _ = await writer.run { transaction in
                for generation in found.broken { try transaction.remove(generation) }
            }
        }
        if isCounted {
            counts.withLock { if found.response == nil { $0.misses += 1 } else { $0.hits += 1 } }
        }
        guard let response = found.response else { return .miss(found.reason) }
        touch(response.generation)
        let freshness = Freshness(
            of: response, for: headers, now: clock.now, expiry: expiry, rules: rules, isShared: isShared)
        return freshness.mayBeServed ? .fresh(response, freshness) : .stale(response, freshness)
    }

    /// Tells a cache of products from now on what becomes invalid, and asks it what was used. The cache isn't kept alive.
    public func register(_ cache: any ProductCache) { productCaches.add(cache) }

    /// Marks a response as used just now. Nothing is written yet: that happens with the next change, or in ``flush()``.
    ///
    /// Lookups mark what they find. Images that a `Store` keeps in memory count as well: their uses are gathered when
    /// something is written.
    public func touch(_ generation: Int64) {
        guard accesses.note(generation, at: clock.now) else { return }
        Task { await flush() }
    }

    /// Notes the uses of images that have left memory.
    package func touch(_ uses: [ProductUse]) {
        guard accesses.note(uses) else { return }
        Task { await flush() }
    }

    /// Writes down which answers were used.
    public func flush() async { _ = await change { _ in } }

    /// Writes down what is not yet written and closes all files. Used again, the cache opens again.
    public func close() async {
        await flush()
        await sweep.withLock(\.self)?.value
        _ = try? await threads.run { [database] _ in database.close() }
    }

    /// Makes changes, the uses noted so far included.
    func change<Result: Sendable>(
        _ changes: @escaping @Sendable (ResponseTransaction) throws -> Result
    ) async -> Result? {
        accesses.note(productCaches.takeUses())
        let noted = accesses.take()
        let result = await writer.run { transaction in
            try transaction.touch(noted)
            return try changes(transaction)
        }
        if result != nil, database.takeStrays() {
            // Not waited for: it waits for all who have a body without a row in hand, and this may be one of them.
            let task = Task { [fileThreads, database] () -> Void in
                // Nor with the priority of the load that stores.
                try? await AdjustablePriority.$inherited.withValue(nil) {
                    try await fileThreads.run(priority: .low) { _ in database.removeOrphansIfAny() }
                }
            }
            sweep.withLock { $0 = task }
        }
        return result
    }
}
