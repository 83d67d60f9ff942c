import Pipeline

@testable import PipelineHTTP

/// The parts of a cache in a folder, for tests that wait for them.
extension HTTPCache {
    private var disk: SQLiteResponseStore {
        guard let disk = store as? SQLiteResponseStore else { preconditionFailure("This cache has no folder.") }
        return disk
    }
    var fileLeases: FileLeases { disk.leases }
    var fileThreads: BlockingThreads { disk.fileThreads }
}
