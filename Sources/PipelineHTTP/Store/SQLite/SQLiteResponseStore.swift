import Essentials
import Logging
import Pipeline

/// A store in a folder, which processes may share: a database, and next to it the bodies that are too long for it. The
/// folder is opened when it is first used.
final class SQLiteResponseStore: PagedStore {
    let bounds: StorageBounds
    let clock: any LoadClock
    let warnings: CacheWarnings
    let database: ResponseDatabase
    let leases: FileLeases
    let threads = BlockingThreads(name: "pipeline-disk", count: 3)
    /// For work that may wait for a folder's lock or the disk, so that lookups never wait behind it.
    let fileThreads = BlockingThreads(name: "pipeline-files", count: 2)
    private let writer: ResponseWriter
    /// Uses that are written with the next change.
    private let uses = Lock<[ProductUse]>([])
    /// The latest search for files that dead processes left, which may still be running.
    private let sweep = Lock<Task<Void, Never>?>(nil)

    init(folder: CacheFolder, bounds: StorageBounds, clock: any LoadClock, logger: Logger) {
        self.bounds = bounds
        self.clock = clock
        warnings = CacheWarnings(logger)
        database = ResponseDatabase(folder: folder, bounds: bounds, clock: clock, warnings: warnings)
        writer = ResponseWriter(database)
        // Reading makes the folder.
        leases = FileLeases(path: folder.leasesPath, threads) { [database] in
            bounds.storedBytes > 0 && database.read { _ in true } == true
        }
    }

    var byteLimit: Int { bounds.byteLimit }

    var folder: String? { database.folder.path }

    func find(
        _ key: SourceKey, priority: LoadPriority, choose: @escaping @Sendable ([StoredResponse]) -> StoredResponse?
    ) async throws -> StoreFinding {
        let found = try await threads.run(priority: priority) { [database] in
            try database.find(key, $0, choose: choose)
        }
        if !found.broken.isEmpty {
            warnings.logger.debug(
                "Removing damaged entries", metadata: ["key": "\(key)", "count": "\(found.broken.count)"])
            await change { transaction in for generation in found.broken { try transaction.remove(generation) } }
        }
        return found.finding
    }

    func insert(
        _ response: StoredResponse, askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion {
        var row = ResponseRow(response)
        guard row.size <= bounds.storedBytes else {
            let isOutdated = await change { [clock, head = row.head] in
                try Self.replaced(by: head, askedAt: time, now: clock.now, replace, $0.database) == nil
            }
            return isOutdated == true ? .outdated : .unavailable
        }
        guard response.body.count > Self.longestInlineBody else {
            row.bodyChecksum = BodyChecksum(of: response.body).value
            return await insert(row, body: response.body, askedAt: time, replacing: replace)
        }
        guard
            let file = try? await fileThreads.run({ [database, warnings] in
                try database.writeBody(response.body, warnings, $0)
            })
        else { return .unavailable }
        (row.bodyFile, row.bodyChecksum) = (file.name, file.checksum)
        let inserted = await insert(row, body: [], askedAt: time, replacing: replace)
        if case .inserted = inserted {
        } else {
            _ = try? await fileThreads.run { [database] _ in database.removeBody(file.name) }
        }
        // The lock is held until now, so that no clean-up of another process removes the file as an orphan.
        withExtendedLifetime(file.lock) {}
        return inserted
    }

    private func insert(
        _ row: ResponseRow, body: [UInt8], askedAt time: Date,
        replacing replace: @escaping @Sendable ([StoredResponse]) -> Set<Int64>?
    ) async -> StoreInsertion {
        let head = row.head
        let inserted = await change { [bounds, clock] transaction -> (StoreInsertion, isBounded: Bool) in
            guard
                let replaced = try Self.replaced(
                    by: head, askedAt: time, now: clock.now, replace, transaction.database)
            else { return (.outdated, true) }
            for generation in replaced { try transaction.remove(generation) }
            if head.isSuccess { try transaction.forgetFailures(of: head.key) }
            let (generation, accessed) = try transaction.insert(row, body: body)
            return (
                .inserted(generation, usedAt: Date(microseconds: accessed), replaced: replaced),
                try transaction.evict(bounds)
            )
        }
        if inserted?.isBounded == false { await evict() }
        return inserted?.0 ?? .unavailable
    }

    /// The generations that a response replaces; `nil` if it is outdated.
    private static func replaced(
        by head: StoredResponse, askedAt time: Date, now: Date, _ replace: ([StoredResponse]) -> Set<Int64>?,
        _ database: SQLiteDatabase
    ) throws -> Set<Int64>? {
        guard try !database.isInvalid(head.targets, askedAt: time, now: now) else { return nil }
        return replace(try database.responses(of: head.key).rows.map(\.head))
    }

    func update(_ response: StoredResponse, if isCurrent: @escaping @Sendable (StoredResponse) -> Bool) async -> Bool? {
        await change { transaction in
            guard let head = try transaction.database.head(response.generation), isCurrent(head) else { return false }
            try transaction.update(response)
            return true
        }
    }

    func remove(
        _ key: SourceKey, where isMeant: @escaping @Sendable (StoredResponse) -> Bool
    ) async -> [StoredResponse] {
        await change { transaction in
            let (rows, broken) = try transaction.database.responses(of: key)
            let meant = rows.map(\.head).filter(isMeant)
            for generation in meant.map(\.generation) + broken { try transaction.remove(generation) }
            return meant
        } ?? []
    }

    func remove(_ generations: [Int64], where isMeant: @escaping @Sendable (CacheEntry) -> Bool) async -> Int {
        await change { transaction in
            try generations.count {
                guard let entry = try transaction.database.entry($0), isMeant(entry) else { return false }
                return try transaction.remove($0)
            }
        } ?? 0
    }

    func invalidate(_ target: String, at time: Date) async -> Int {
        await change { try $0.invalidate(target, at: time) } ?? 0
    }

    func entries(after generation: Int64, limit: Int) async throws -> [CacheEntry] {
        try await threads.run { [database] in
            database.read($0) { try $0.entries(after: generation, limit: limit) } ?? []
        }
    }

    func totals() async throws -> StoreTotals? {
        try await threads.run { [database] in
            database.read($0) { database in
                let totals = try database.totals()
                // Results have no totals of their own, but take pages.
                let pages = try database.bytesInUse().clampedSum(-StorageBounds.largestEmptyDatabase)
                return StoreTotals(
                    entries: totals.entries, bytes: max(totals.bytes, pages.clampedSum(totals.fileBytes)),
                    bodyFiles: totals.files,
                    latestGeneration: try database.latestGeneration())
            }
        }
    }

    func use(_ uses: [ProductUse]) { self.uses.withLock { $0 += uses } }

    func flush() async {
        // A cache that was never used makes no folder.
        if !database.isClosed || writer.isBusy || uses.withLock({ !$0.isEmpty }) { await change { _ in } }
    }

    /// Evicts down to the bounds, returns free pages to the file system, and removes body files that belong to no row.
    func tidy() async {
        await evict()
        // No more than there are now: other processes may free pages without pause.
        let free = await change { try $0.database.freePages() } ?? 0
        for _ in 0..<(free / ResponseTransaction.pagesAtOnce + 1) {
            guard await change({ try $0.giveBackPages(keeping: 0) }) == false else { break }
        }
        _ = try? await fileThreads.run(priority: .low) { [database] in database.removeOrphans($0) }
    }

    func close() async {
        await flush()
        await sweep.withLock(\.self)?.value
        guard !database.isClosed else { return }
        _ = try? await threads.run { [database] _ in database.close() }
    }

    /// Evicts down to the bounds.
    func evict() async {
        // Processes that store meanwhile evict for themselves.
        let entries = await change { try $0.database.totals().entries } ?? 0
        for _ in 0..<(max(0, entries) / ResponseTransaction.rowsAtOnce).clampedSum(16) {
            guard await change({ [bounds] in try $0.evict(bounds) }) == false else { return }
        }
    }

    /// Makes changes, with the uses passed so far, as one transaction.
    /// - Returns: Their result; `nil` if they failed, in which case nothing has changed.
    @discardableResult
    func change<Result: Sendable>(
        _ changes: @escaping @Sendable (ResponseTransaction) throws -> Result
    ) async -> Result? {
        let uses = uses.withLock { uses in
            defer { uses = [] }
            return uses
        }
        let result = await writer.run { transaction in
            try transaction.touch(uses)
            return try changes(transaction)
        }
        if result != nil, database.claimStrays() {
            // Not awaited: it waits for every caller that holds a body without a row, and this may be one of them.
            let task = Task { [fileThreads, database] () -> Void in
                // Nor does it have the priority of the load that stores.
                try? await AdjustablePriority.$inherited.withValue(nil) {
                    try await fileThreads.run(priority: .low) { _ in database.removeOrphansIfAny() }
                }
            }
            sweep.withLock { $0 = task }
        }
        return result
    }

    /// Longer bodies are files: SQLite reads short ones faster than the file system, and long ones slower.
    static let longestInlineBody = 65_536
}
