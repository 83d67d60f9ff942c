import LibC

/// Repairs the files of a cache. Faults of single entries are repaired by a transaction.
struct CacheRepair {
    let folder: CacheFolder

    /// Corrects modes, and removes a database that is beyond repair or too new.
    /// - Parameter close: closes this process's connections to a database before it is removed.
    func repairFiles(_ findings: [CacheReport.Finding], close: () -> Void) {
        do {
            try folder.check()
        } catch let refusal as FolderRefusal where !refusal.isRepairable {
            return
        } catch {
            // Its mode may deny even its owner access.
        }
        // Only files of this user can be changed; others stay findings.
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
