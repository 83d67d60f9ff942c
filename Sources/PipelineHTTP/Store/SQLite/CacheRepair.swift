import Glibc

/// Repairs what is wrong with a cache's files. What is wrong with single entries is repaired by a transaction.
struct CacheRepair {
    let folder: CacheFolder

    /// Sets modes right, and removes a database that is beyond repair or too new.
    /// - Parameter close: closes the connections of this process to a database that goes.
    func mendFiles(_ findings: [CacheReport.Finding], close: () -> Void) {
        do {
            try folder.check()
        } catch let refusal as FolderRefusal where !refusal.isRepairable {
            return
        } catch {
            // Its mode may keep even its owner from looking.
        }
        // Only the owner's own can be changed; what belongs to others stays a finding.
        for finding in findings where finding.kind == .readableByOthers { setMode(of: finding.subject) }
        if findings.contains(where: { $0.kind == .unusable }) {
            for path in [folder.path, folder.bodiesPath, folder.leasesPath] + folder.databaseFiles { setMode(of: path) }
        }
        guard findings.contains(where: { $0.kind == .damagedDatabase || $0.kind == .newerVersion }) else { return }
        close()
        if let lock = try? FolderLock(folder.path, .alone) {
            folder.removeDatabase()
            withExtendedLifetime(lock) {}
        }
    }

    private func setMode(of path: String) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_uid == geteuid() else { return }
        // Not through a link.
        fchmodat(AT_FDCWD, path, status.st_mode & S_IFMT == S_IFDIR ? 0o700 : 0o600, AT_SYMLINK_NOFOLLOW)
    }
}
