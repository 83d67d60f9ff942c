import LibC
import Pipeline

extension ResponseDatabase {
    /// A body's file that no row points to yet; the lock keeps clean-ups from removing it as an orphan.
    struct NewBody: Sendable {
        let name: String
        let checksum: Int64
        let lock: FolderLock
    }

    /// Writes a body that is too long for the database; `nil` if that fails, which is logged. Blocks while a clean-up
    /// looks for bodies without a row, up to ``FolderLock/patience``.
    /// - Throws: `CancellationError`.
    func writeBody(
        _ body: [UInt8], _ warnings: CacheWarnings, _ cancellation: WorkCancellation? = nil
    ) throws -> NewBody? {
        for isRetry in [false, true] {
            guard mayWriteBodies(cancellation) else { return nil }
            do {
                let lock = try FolderLock(folder.bodiesPath, .shared, cancellation)
                let name = try BodyFiles(folder: folder.bodiesPath).write(body)
                return NewBody(name: name, checksum: BodyChecksum(of: body).value, lock: lock)
            } catch let error as FileError where error.number == ENOENT && !isRetry {
                // The folder was removed; opening it again makes it again.
                close()
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                if error is FolderLocked { pauseBodies() }
                warnings.failed(folder.path, error)
                return nil
            }
        }
        return nil
    }

    /// Removes a body's file.
    func removeBody(_ name: String) { BodyFiles(folder: folder.bodiesPath).remove(name) }

    /// Removes the files that no row points to, if the database is open and there seem to be any. Runs unasked, so it
    /// takes no lock to find out.
    func removeOrphansIfAny() {
        // Listed first: a file that gets its row meanwhile is known then.
        let names = BodyFiles(folder: folder.bodiesPath).names()
        // Not by their numbers: a file that is missing would hide one that is left over.
        guard !names.isEmpty, let known = readIfOpen({ try $0.bodyFiles() }), !known.isSuperset(of: names) else {
            return
        }
        _ = removeOrphans()
    }

    /// Removes the files that no row points to, left by processes that died between writing a body and its row.
    ///
    /// If bodies are written all the time, or a stopped process holds their lock, the next clean-up tries again.
    /// - Returns: the number of removed files.
    @discardableResult
    func removeOrphans(_ cancellation: WorkCancellation? = nil) -> Int {
        let files = BodyFiles(folder: folder.bodiesPath)
        guard read(cancellation, { _ in true }) == true,
            let lock = try? FolderLock(folder.bodiesPath, .alone, cancellation, patience: .seconds(1))
        else { return 0 }
        defer { withExtendedLifetime(lock) {} }
        let names = files.names()
        guard !names.isEmpty, let known = read(cancellation, { try $0.bodyFiles() }) else { return 0 }
        let orphans = names.filter { !known.contains($0) }
        for name in orphans { files.removeOrphan(name) }
        return orphans.count
    }
}
