package import Essentials
public import HTTPTypes
public import Logging
public import Pipeline

/// Stores HTTP responses by the rules of RFC 9111: in a folder that processes may share, in memory, or in your own
/// store.
///
/// A pipeline's stages use it; it can also be used alone, for any content type and status. It opens its folder when it
/// is first used, on a thread of its own. A cache that can't be used never fails a load: lookups miss, responses are
/// not stored, and one warning in the log says what to do.
///
/// ## Users
///
/// RFC 9111 knows a private cache, which has one user, and a shared cache, which must not store `private` responses. A
/// server that loads images for its users is neither: it stores `private` responses, separately for each user. That is
/// the default, ``Users/several``: credentials are part of every key (`CredentialFields`), and a `private` response
/// answers only requests with the same fields, except those that say nothing of the user, such as `Accept` or
/// `User-Agent`. If the requests to the origin don't identify the user, give each user a `partition`. A program that
/// acts for a single user follows RFC 9111 alone:
///
/// ```swift
/// let cache = HTTPCache(folder: folder, users: .one)
/// ```
public final class HTTPCache: Sendable {
    /// Where it keeps the responses.
    package let store: any ResponseStore
    /// Lets one load at a time fetch a source; `nil` for none.
    package let leases: (any FetchLeases)?
    /// Where the bytes of a response come from that is found in it.
    package let source: LoadSource
    /// Tells its responses from those of other tiers.
    package let identity: TierIdentity
    /// Receives whether a load's lookup in it was a hit.
    package let noteLookup: (@Sendable (Bool) -> Void)?
    /// Whether it keeps to the rules of a shared cache (RFC 9111 section 1.2.3), which stores nothing `private`.
    package let isShared: Bool
    /// Whose requests it answers.
    package let users: Users
    /// Whether requests whose `Expiry` is `.after` or `.never` have responses stored that say `no-store`.
    package let overrulesNoStore: Bool

    /// What it stores, and for how long.
    package var policy: StoringPolicy {
        StoringPolicy(isShared: isShared, users: users, overrulesNoStore: overrulesNoStore)
    }

    /// The clock by which freshness is calculated.
    package let clock: any LoadClock
    let accesses: AccessRecord
    /// The task that writes down uses unasked; `nil` until it is known.
    private let flushing = Lock((isRunning: false, task: Task<Void, Never>?.none))
    let counts = Lock((hits: 0, misses: 0))
    let invalidations: RecentInvalidations
    /// The sources whose stored responses the origin has replaced, where the store couldn't remove them, with the times of
    /// the requests.
    let superseded: RecentInvalidations
    let productCaches: ProductCaches
    let removals: TierRemovals

    /// The folder that holds the cache; `nil` if the store has none.
    public var folder: String? { store.folder }

    /// The limit of all stored bytes.
    package var byteLimit: Int { store.byteLimit }

    /// `$XDG_CACHE_HOME/pipeline`, or `~/.cache/pipeline`.
    public static var defaultFolder: String { CacheFolder.standardPath }

    /// Returns whether a folder holds a cache. Makes nothing and opens nothing.
    package static func exists(in folder: String) -> Bool { CacheFolder(path: folder).hasDatabase }

    /// Describes a cache in a folder, which processes may share; nothing is opened yet.
    /// - Parameters:
    ///   - folder: The folder's path; made with mode 0700 if it is missing. From a read-only folder, stored responses
    ///     are served and no new ones are stored.
    ///   - byteLimit: The bytes that the folder may take, the database's log included; 1 GB by default. The least
    ///     recently used responses are removed first, a few more than necessary. An empty database takes up to 2 MB
    ///     more.
    ///   - entryLimit: The number of responses that may be stored; unlimited by default.
    ///   - isShared: Whether to keep to the rules of a shared cache; `false` by default.
    ///   - users: Whose requests it answers; ``Users/several`` by default.
    ///   - overrulesNoStore: Whether requests whose `Expiry` is `.after` or `.never` have responses stored that say
    ///     `no-store`, against RFC 9111 section 5.2.2.5; `false` by default.
    ///   - clock: The clock by which freshness is calculated.
    ///   - logger: Logs each kind of failure once.
    public convenience init(
        folder: String, byteLimit: Int = 1_000_000_000, entryLimit: Int? = nil, isShared: Bool = false,
        users: Users = .several, overrulesNoStore: Bool = false, clock: any LoadClock = SystemClock(),
        logger: Logger = Logger(label: "pipeline.cache")
    ) {
        let store = SQLiteResponseStore(
            folder: CacheFolder(path: folder), bounds: StorageBounds(byteLimit: byteLimit, entryLimit: entryLimit),
            clock: clock, logger: logger)
        self.init(
            store: store, leases: store.leases, isShared: isShared, users: users, overrulesNoStore: overrulesNoStore,
            clock: clock)
    }

    /// Describes a cache in this process's memory. It makes no folder and no file, and its responses are gone with the
    /// process.
    /// - Parameters:
    ///   - byteLimit: The limit of all stored bytes. Beyond it the least recently used responses are removed, a few
    ///     more than necessary.
    ///   - isShared: Whether to keep to the rules of a shared cache; `false` by default.
    ///   - users: Whose requests it answers; ``Users/several`` by default.
    ///   - overrulesNoStore: Whether requests whose `Expiry` is `.after` or `.never` have responses stored that say
    ///     `no-store`, against RFC 9111 section 5.2.2.5; `false` by default.
    ///   - clock: The clock by which freshness is calculated.
    public convenience init(
        inMemory byteLimit: Int, isShared: Bool = false, users: Users = .several, overrulesNoStore: Bool = false,
        clock: any LoadClock = SystemClock()
    ) {
        self.init(
            store: InMemoryResponseStore(byteLimit: byteLimit), isShared: isShared, users: users,
            overrulesNoStore: overrulesNoStore, clock: clock)
    }

    /// Describes a cache that keeps its responses in a store of your own.
    /// - Parameters:
    ///   - store: Where it keeps them.
    ///   - leases: Let one load at a time fetch a source, among all that share the store; `nil`, the default, for none.
    ///   - source: Where the bytes of a response come from that is found in it, as traces and loads report it;
    ///     `LoadSource.disk` by default.
    ///   - isShared: Whether to keep to the rules of a shared cache; `false` by default.
    ///   - users: Whose requests it answers; ``Users/several`` by default.
    ///   - overrulesNoStore: Whether requests whose `Expiry` is `.after` or `.never` have responses stored that say
    ///     `no-store`, against RFC 9111 section 5.2.2.5; `false` by default.
    ///   - clock: The clock by which freshness is calculated.
    public convenience init(
        store: any ResponseStore, leases: (any FetchLeases)? = nil, source: LoadSource = .disk, isShared: Bool = false,
        users: Users = .several, overrulesNoStore: Bool = false, clock: any LoadClock = SystemClock()
    ) {
        self.init(
            store: store, leases: leases, source: source, isShared: isShared, users: users,
            overrulesNoStore: overrulesNoStore, clock: clock, noteLookup: nil)
    }

    /// Describes a cache whose lookups are noted.
    package init(
        store: any ResponseStore, leases: (any FetchLeases)?, source: LoadSource, isShared: Bool, users: Users,
        overrulesNoStore: Bool = false, clock: any LoadClock, noteLookup: (@Sendable (Bool) -> Void)?
    ) {
        self.noteLookup = noteLookup
        self.overrulesNoStore = overrulesNoStore
        self.store = store
        self.leases = leases
        self.source = source
        self.isShared = isShared
        self.users = users
        self.clock = clock
        (accesses, invalidations, superseded) = (AccessRecord(), RecentInvalidations(), RecentInvalidations())
        (productCaches, removals, identity) = (ProductCaches(), TierRemovals(), TierIdentity())
    }

    /// The same tier over another view of its store.
    private init(_ tier: HTTPCache, over store: any ResponseStore) {
        (self.store, leases, source, identity) = (store, tier.leases, tier.source, tier.identity)
        noteLookup = tier.noteLookup
        (isShared, users, overrulesNoStore, clock) = (tier.isShared, tier.users, tier.overrulesNoStore, tier.clock)
        (accesses, invalidations, superseded) = (tier.accesses, tier.invalidations, tier.superseded)
        (productCaches, removals) = (tier.productCaches, tier.removals)
    }

    /// The same tier over another view of its store; itself for `nil`.
    func over(_ store: (any ResponseStore)?) -> HTTPCache { store.map { HTTPCache(self, over: $0) } ?? self }

    /// Looks up the response to a request and judges its freshness now.
    ///
    /// Of several responses that match the request's fields, it finds the most recent (RFC 9111 section 4.1). A
    /// response whose body is damaged reads as a miss and is removed.
    /// - Parameters:
    ///   - key: the key of the source.
    ///   - headers: the request's fields as they will be sent: `Vary` selects among them, and their `Cache-Control`
    ///     applies (section 5.2.1).
    ///   - expiry: who decides how long a response is fresh.
    ///   - rules: `.http` to ignore `expiry`.
    ///   - priority: how urgent the lookup is, compared to others.
    /// - Throws: `CancellationError` if the task is cancelled; nothing else.
    public func lookup(
        _ key: SourceKey, headers: HTTPFields = [:], expiry: Expiry = .standard, rules: CacheRules = .asRequested,
        priority: LoadPriority = .normal
    ) async throws -> CacheLookup {
        try await look(key, headers: headers, expiry: expiry, rules: rules, priority: priority, isCounted: true)
    }

    /// Does what ``lookup(_:headers:expiry:rules:priority:)`` does.
    /// - Parameters:
    ///   - isCounted: false for a load that has been counted.
    ///   - certainSince: When the load began that asks, if it has waited for another's response: one that was stored since
    ///     is served, even if this machine doesn't hear of removals. `distantFuture`, the default, for none.
    package func look(
        _ key: SourceKey, headers: HTTPFields, expiry: Expiry, rules: CacheRules, priority: LoadPriority,
        isCounted: Bool, certainSince: Date = .distantFuture
    ) async throws -> CacheLookup {
        let start = clock.now.toMicroseconds
        let found = try await store.find(key, priority: priority) { [users, superseded, clock, removals] stored in
            var matching = stored.filter { $0.selecting.match(headers, of: users) }
            if removals.isPending { matching.removeAll { removals.isRemoved($0) } }
            guard superseded.count > 0 else { return Self.mostRecent(matching) }
            return Self.mostRecent(
                matching.filter { !superseded.contains("\(key)", since: $0.requestTime, now: clock.now) })
        }
        guard case .found(var response) = found else {
            if isCounted { counts.withLock { $0.misses += 1 } }
            return .miss(found.miss)
        }
        if isCounted { counts.withLock { $0.hits += 1 } }
        response.tier = identity
        // By another machine's clock, which may be a bit ahead, it could seem to come after removals during this lookup.
        if !response.requestTime.isFromFuture(at: start) { response.wasRequested(by: start) }
        touch(response.generation)
        let freshness = Freshness(
            of: response, for: headers, now: clock.now, expiry: expiry, rules: rules, isShared: isShared,
            isUncertain: removals.isUncertain(storedAt: response.stored) && response.stored < certainSince)
        return freshness.mayBeServed ? .fresh(response, freshness) : .stale(response, freshness)
    }

    /// RFC 9111 section 4.1: the latest by `Date`; of equal ones the one that arrived or was stored last.
    static func mostRecent(_ responses: [StoredResponse]) -> StoredResponse? {
        func date(_ response: StoredResponse) -> Date {
            response.headers.date(.date, now: response.responseTime) ?? response.responseTime
        }
        guard responses.count > 1 else { return responses.first }
        return responses.max {
            (date($0), $0.responseTime, $0.generation) < (date($1), $1.responseTime, $1.generation)
        }
    }

    /// Lets a fleet's member say since when it has heard of every removal. What it may have missed is stale here.
    package func follow(_ knowledge: RemovalKnowledge) { removals.add(knowledge) }

    /// Tells a listener of removals from now on. It isn't kept alive.
    package func register(_ listener: any RemovalListener) { removals.add(listener) }

    /// Registers a cache of products, which is told from now on what becomes invalid, and asked for its uses. It isn't
    /// kept alive.
    package func register(_ cache: any ProductCache) { productCaches.add(cache) }

    /// Marks a response as used just now. Nothing is written yet: that happens with the next change, or in ``flush()``.
    ///
    /// Lookups mark what they find. Images that a `Store` keeps in memory count as well: their uses are collected when
    /// something is written.
    package func touch(_ generation: Int64) {
        if accesses.note(generation, at: clock.now) { flushSoon() }
    }

    /// Notes the uses of images that have left memory.
    package func touch(_ uses: [ProductUse]) {
        if accesses.note(uses) { flushSoon() }
    }

    /// Writes down the uses in a task that ``close()`` waits for: otherwise it could open the store again.
    private func flushSoon() {
        let starts = flushing.withLock { flushing in
            defer { flushing.isRunning = true }
            return !flushing.isRunning
        }
        guard starts else { return }
        let task = Task {
            await flush()
            flushing.withLock { $0 = (false, nil) }
        }
        flushing.withLock { if $0.isRunning { $0.task = task } }
    }

    /// Writes down which responses were used.
    package func flush() async {
        handInUses()
        await store.flush()
    }

    /// Writes pending changes and closes all files. The next use opens the cache again. If the cache was never used,
    /// nothing happens.
    public func close() async {
        await flushing.withLock(\.task)?.value
        handInUses()
        await store.close()
    }

    /// Passes the uses recorded so far to the store, which evicts by them.
    func handInUses() {
        accesses.note(productCaches.takeUses())
        let uses = accesses.take()
        if !uses.isEmpty { store.use(uses) }
    }
}

extension StoreFinding {
    /// Why nothing was found.
    fileprivate var miss: CacheMiss {
        switch self {
        case .found, .nothing(among: 0): .nothingStored
        case .nothing(let others): .otherValues(others)
        case .damaged: .damaged
        case .unavailable: .unavailable
        }
    }
}
