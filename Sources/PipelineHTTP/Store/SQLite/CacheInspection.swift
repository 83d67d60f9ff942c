import CSQLite
import Essentials
import LibC
import Pipeline

/// Checks a cache's folder without changing anything.
struct CacheInspection {
    let folder: CacheFolder
    let now: Date
    let cancellation: WorkCancellation
    var report = CacheReport()

    init(folder: CacheFolder, now: Date, cancellation: WorkCancellation) {
        self.folder = folder
        self.now = now
        self.cancellation = cancellation
    }

    /// Runs all checks.
    /// - Throws: `CancellationError`.
    mutating func run() throws -> CacheReport {
        guard lookAtFolder() else { return report }
        lookAtModes()
        lookAtRoom()
        do {
            try lookAtDatabase()
        } catch let error as SQLiteError {
            // When it is stopped half way, SQLite fails with "interrupted".
            try cancellation.check()
            if error.isCorruption {
                foundDamagedDatabase("\(error)")
            } else {
                found(
                    .unusable, folder.databasePath,
                    "The database can't be read: \(error). Make it readable for this user.")
            }
        }
        return report
    }

    /// Checks the folders; returns whether there is anything else to check.
    private mutating func lookAtFolder() -> Bool {
        do {
            try folder.check()
        } catch let refusal as FolderRefusal {
            refused(refusal)
            return false
        } catch {
            // The checks below report more about a folder or file that can't be accessed.
        }
        for path in [folder.path, folder.bodiesPath] {
            var status = stat()
            guard stat(path, &status) == 0 else {
                // A missing folder is made when it is needed.
                if errno != ENOENT { cannotUse(path, String(cString: strerror(errno))) }
                if path == folder.path { return false }
                continue
            }
            guard status.st_mode & S_IFMT == S_IFDIR else {
                found(.unusable, path, "This is not a folder. Remove it, or give the cache another folder.")
                return false
            }
            if access(path, R_OK | W_OK | X_OK) != 0 {
                cannotUse(path, String(cString: strerror(errno)))
            } else if status.st_uid == geteuid(), status.st_mode & S_IRWXU != S_IRWXU {
                cannotUse(path, "its mode is \(octal(status.st_mode))")
            }
        }
        guard access(folder.path, R_OK | X_OK) == 0 else { return false }
        for path in folder.databaseFiles + [folder.leasesPath] where access(path, F_OK) == 0 {
            if access(path, R_OK | W_OK) != 0 { cannotUse(path, String(cString: strerror(errno))) }
        }
        return true
    }

    private mutating func refused(_ refusal: FolderRefusal) {
        let remedy = refusal.isRepairable ? " Or let a repair do that." : " A repair leaves it alone."
        found(.unusable, refusal.path, "The cache is not used: it \(refusal.what)" + remedy)
    }

    private mutating func cannotUse(_ path: String, _ reason: String) {
        found(
            .unusable, path,
            "It can't be read and written: \(reason). A repair gives its owner all rights; another user's folder has to "
                + "be changed by that user.")
    }

    private mutating func lookAtModes() {
        let names = BodyFiles(folder: folder.bodiesPath).names().map { folder.bodiesPath + "/" + $0 }
        for path in [folder.path, folder.bodiesPath, folder.leasesPath] + folder.databaseFiles + names {
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFLNK, status.st_mode & 0o077 != 0 else {
                continue
            }
            found(
                .readableByOthers, path,
                "Its mode, \(octal(status.st_mode)), gives other users access. A repair removes that.")
        }
    }

    private mutating func lookAtRoom() {
        var status = statvfs()
        guard statvfs(folder.path, &status) == 0 else { return }
        // A file system in user space may return any numbers.
        let (free, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard !overflow, free < 1 << 20 else { return }
        found(
            .noRoom, folder.path,
            "The file system has \(free) bytes left: nothing new can be stored. Free some space; a repair removes "
                + "expired responses, and everything if that is not enough.")
    }

    private mutating func lookAtDatabase() throws {
        guard access(folder.databasePath, F_OK) == 0 else { return }
        let database = try SQLiteDatabase(path: folder.databasePath, readOnly: true)
        database.stop(when: cancellation)
        if try ResponseSchema.isOtherProgram(database) {
            return refused(FolderRefusal(folder.databasePath, .otherDatabase))
        }
        let version = try database.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        guard version <= ResponseSchema.version else {
            return found(
                .newerVersion, folder.databasePath,
                "A newer version has written it (\(version), this one knows \(ResponseSchema.version)): the cache is "
                    + "not used. Update this program; a repair puts an empty database in its place.")
        }
        guard version > 0 else { return }
        let faults = try database.all("PRAGMA integrity_check(3)") { $0.text(0) ?? "" }
        guard faults == ["ok"] else {
            return foundDamagedDatabase(plainText(faults.joined(separator: "; ")))
        }
        try lookAtTotals(database)
        try lookAtEntries(database, version: version)
        try lookAtVariants(database, version: version)
        try lookAtOrphans(database)
    }

    private mutating func foundDamagedDatabase(_ reason: String) {
        found(
            .damagedDatabase, folder.databasePath,
            "The database is damaged: \(reason). A repair replaces it by an empty one. If this happens again, check the disk."
        )
    }

    private mutating func lookAtTotals(_ database: SQLiteDatabase) throws {
        guard try !database.totalsAreRight() else { return }
        found(
            .wrongTotals, folder.databasePath,
            "The stored totals don't match the rows. A repair recounts.")
    }

    private mutating func lookAtEntries(_ database: SQLiteDatabase, version: Int64) throws {
        let files = BodyFiles(folder: folder.bodiesPath)
        var last = Int64.min
        let end = try database.latestGeneration()
        while last < end {
            try cancellation.check()
            guard let entry = try database.entry(after: last, version: version) else { return }
            last = entry.generation
            guard let fault = fault(of: entry, files), try database.has(entry.generation) else { continue }
            report.findings.append(fault)
        }
    }

    /// Returns the fault of an entry, if any, and counts the entry.
    private mutating func fault(of entry: SQLiteDatabase.InspectedEntry, _ files: BodyFiles) -> CacheReport.Finding? {
        func finding(_ kind: CacheReport.Kind, _ detail: String) -> CacheReport.Finding {
            CacheReport.Finding(
                kind: kind, subject: redactedURL(entry.target), detail: detail, generation: entry.generation)
        }
        report.entries += 1
        guard let row = entry.row else {
            return finding(.damagedEntry, "Its row is malformed. A repair removes the entry.")
        }
        var body = entry.body
        if let name = row.bodyFile {
            guard files.has(name) else {
                return finding(.missingBody, "Its body's file is gone. A repair removes the entry.")
            }
            body = files.read(name, length: row.bodyLength, checksum: row.bodyChecksum)
        } else if let bytes = body, bytes.count != row.bodyLength || BodyChecksum(of: bytes).value != row.bodyChecksum {
            body = nil
        }
        guard let body else {
            return finding(.damagedEntry, "Its body is damaged. A repair removes the entry.")
        }
        report.bytes += body.count
        guard row.head.stored.timeIntervalSince(now) <= 86_400 else {
            return finding(
                .fromTheFuture,
                "It was stored in the future: the clock was set back. A repair removes the entry.")
        }
        return nil
    }

    private mutating func lookAtOrphans(_ database: SQLiteDatabase) throws {
        // A writer of a body shares this lock until its row is written.
        guard let lock = try? FolderLock(folder.bodiesPath, .alone, cancellation, patience: .seconds(1)) else { return }
        defer { withExtendedLifetime(lock) {} }
        let known = try database.bodyFiles()
        for name in BodyFiles(folder: folder.bodiesPath).names() where !known.contains(name) {
            found(
                .orphanBody, folder.bodiesPath + "/" + name,
                "No entry has this body: a process ended while it stored it. A repair, or any clean-up, removes it.")
        }
        let strays = try database.strayBodies()
        guard strays > 0 else { return }
        found(
            .orphanBody, folder.databasePath,
            "\(strays) bodies in the database belong to no entry. A repair removes them.")
    }

    private mutating func found(_ kind: CacheReport.Kind, _ subject: String, _ detail: String) {
        report.findings.append(CacheReport.Finding(kind: kind, subject: subject, detail: detail))
    }

    private func octal(_ mode: mode_t) -> String { "0" + String(mode & 0o7777, radix: 8) }
}
