import Pipeline

@testable import PipelineHTTP

/// The parts of a cache in a folder, for tests that damage them or wait for them.
extension HTTPCache {
    private var disk: SQLiteResponseStore {
        guard let disk = store as? SQLiteResponseStore else { preconditionFailure("This cache has no folder.") }
        return disk
    }
    var database: ResponseDatabase { disk.database }
    var fileLeases: FileLeases { disk.leases }
    var fileThreads: BlockingThreads { disk.fileThreads }
    var warnings: CacheWarnings { disk.warnings }
    var bounds: StorageBounds { disk.bounds }

    @discardableResult
    func change<Result: Sendable>(
        _ changes: @escaping @Sendable (ResponseTransaction) throws -> Result
    ) async -> Result? {
        await disk.change(changes)
    }
}

extension FileLeases {
    /// Gives other tasks their turn until this many wait.
    func reaches(_ wanted: Int) async { while waiting < wanted { await Task.yield() } }
}
