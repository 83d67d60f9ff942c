import LibC
import Logging
import Pipeline

/// Logs once for each kind of failure what is wrong with the cache and what to do. Loads continue without the cache.
struct CacheWarnings: Sendable {
    let logger: Logger
    private let given = Lock<Set<String>>([])

    init(_ logger: Logger) { self.logger = logger }

    /// The cache can't be used for now.
    func standsAside(_ folder: String, _ error: any Error) {
        if let error = error as? SchemaTooNew {
            return warn(
                "newer",
                "The cache \(folder) was written by a newer version (\(error.version)); loads go on without it. "
                    + "Update this program or give it another folder.")
        }
        if isFull(error) || error is FolderLocked { return failed(folder, error) }
        if let error = error as? FolderRefusal {
            return warn("aside", "The cache \(folder) is not used: \(error) Loads go on without it.")
        }
        if (error as? FileError)?.number == ENOTDIR {
            return warn(
                "aside",
                "The cache \(folder) can't be used: \(error); loads go on without it. A file is in the "
                    + "folder's place: remove it or choose another folder.")
        }
        warn(
            "aside",
            "The cache \(folder) can't be used: \(error); loads go on without it. Make the folder writable for this "
                + "user or choose another one.")
    }

    /// The folder can only be read.
    func readOnly(_ folder: String) {
        warn(
            "read-only",
            "The cache \(folder) can only be read: nothing new is stored. Make the folder writable for this user, or choose "
                + "another one.")
    }

    /// The database file is damaged beyond reading.
    func damaged(_ path: String, _ error: any Error) {
        warn(
            "damaged",
            "The cache's database \(path) is damaged: \(error). It is replaced by an empty one. If this happens again, check the "
                + "disk.")
    }

    /// One piece of work failed.
    func failed(_ folder: String, _ error: any Error) {
        if isFull(error) {
            return warn(
                "full",
                "There is no room for the cache \(folder): \(error). Nothing new is stored. Free some space, or give the "
                    + "cache a lower byteLimit.")
        }
        if (error as? SQLiteError)?.isBusy == true || error is FolderLocked {
            let held = (error as? FolderLocked)?.folder ?? folder + "/responses.sqlite"
            return warn(
                "busy",
                "The cache \(folder) is locked by another process for some seconds; loads go on without it. End the "
                    + "process that holds \(held).")
        }
        warn("failed", "The cache \(folder) failed: \(error). Loads go on without it. Check the folder and the disk.")
    }

    private func isFull(_ error: any Error) -> Bool {
        (error as? SQLiteError)?.isFull == true || (error as? FileError)?.isFull == true
    }

    private func warn(_ kind: String, _ text: String) {
        HeldLocks.requireNone()
        if given.withLock({ $0.insert(kind).inserted }) { logger.warning("\(text)") }
    }
}
