import LibC

/// The folder of a cache: a database, and next to it the bodies that are too long for it.
struct CacheFolder: Sendable {
    /// The folder's path.
    let path: String

    /// The database's path.
    var databasePath: String { path + "/responses.sqlite" }

    /// The database's file and those that SQLite keeps next to it.
    var databaseFiles: [String] { ["", "-wal", "-shm"].map { databasePath + $0 } }

    /// The file in which processes lock the sources that they fetch.
    var leasesPath: String { path + "/leases" }

    /// The folder of the bodies.
    var bodiesPath: String { path + "/bodies" }

    /// `$XDG_CACHE_HOME/pipeline`, or `~/.cache/pipeline` (XDG Base Directory Specification). Without a home folder it
    /// is below `/`, where only root can make it. In a shared folder another user could make it first.
    static var standardPath: String {
        if let base = environment("XDG_CACHE_HOME"), base.hasPrefix("/") { return base + "/pipeline" }
        let home = environment("HOME") ?? getpwuid(getuid()).flatMap { String(cString: $0.pointee.pw_dir) }
        return (home ?? "") + "/.cache/pipeline"
    }

    /// Makes missing folders, which no other user may enter.
    /// - Throws: ``FolderRefusal`` if the folder is not this user's cache; `FileError`.
    func create() throws {
        try check()
        try makeFolder(path)
        try makeFolder(bodiesPath)
    }

    /// Checks that the folder holds only this user's cache: no links, no folders of other users, no other files.
    ///
    /// Since no other user may write to it, the result stays valid.
    /// - Throws: ``FolderRefusal``; `FileError`.
    func check() throws {
        guard let mode = try checkFolder(path) else { return }
        let bodiesMode = try checkFolder(bodiesPath)
        for file in databaseFiles { try checkFile(file) }
        if try status(databasePath) == nil { try checkNames() }
        for (path, mode) in [(path, mode), (bodiesPath, bodiesMode ?? 0)] where mode & 0o022 != 0 {
            throw FolderRefusal(path, .writable("0" + String(mode & 0o7777, radix: 8)))
        }
    }

    /// Whether the database's file is there.
    var hasDatabase: Bool {
        var status = stat()
        return lstat(databasePath, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether this process can't change the folder, as on a file system that is mounted read-only.
    var isReadOnly: Bool { hasDatabase && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 }

    /// Whether the database has a log, without which it may be incomplete.
    var hasLog: Bool {
        var status = stat()
        return lstat(databasePath + "-wal", &status) == 0 && status.st_size > 0
    }

    /// Makes the database's file if it is missing, readable only by this user. SQLite gives its other files the same
    /// mode.
    ///
    /// The caller holds the folder's exclusive lock. An existing file is not opened: a process that closes a file loses
    /// all its locks on it (fcntl(2)), SQLite's included, and another process could then remove the log.
    func createDatabase() throws(FileError) {
        let file = open(databasePath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 {
            close(file)
        } else if errno != EEXIST || faccessat(AT_FDCWD, databasePath, R_OK | W_OK, AT_EACCESS) != 0 {
            throw FileError("open \(databasePath)")
        }
    }

    /// Removes a database that is beyond repair, with the files that belong to it.
    func removeDatabase() {
        for file in databaseFiles { unlink(file) }
    }

    private func makeFolder(_ path: String) throws(FileError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST && isFolder(path) { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw FileError("mkdir \(path)", number: errno == EEXIST ? ENOTDIR : errno)
        }
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileError("mkdir \(path)") }
    }

    /// The names in a cache's folder, with or without a database.
    private static let names: Set<String> = [
        "bodies", "leases", "responses.sqlite", "responses.sqlite-wal", "responses.sqlite-shm",
        "responses.sqlite-journal",
    ]

    /// Checks that a folder without a database holds only files that a cache could have left.
    private func checkNames() throws {
        if let other = try names(in: path).first(where: { !Self.names.contains($0) }) {
            throw FolderRefusal(path, .otherFiles(other))
        }
        guard try status(bodiesPath) != nil else { return }
        let bodies = Set(BodyFiles(folder: bodiesPath).names())
        if let other = try names(in: bodiesPath).first(where: { !bodies.contains($0) }) {
            throw FolderRefusal(path, .otherFiles("bodies/" + other))
        }
    }

    /// Returns the mode of a folder, which has to be this user's; `nil` if there is none.
    private func checkFolder(_ path: String) throws -> mode_t? {
        guard let status = try status(path) else { return nil }
        if status.st_mode & S_IFMT == S_IFLNK { throw FolderRefusal(path, .link) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FileError("mkdir \(path)", number: ENOTDIR) }
        guard status.st_uid == geteuid() else { throw FolderRefusal(path, .owner) }
        return status.st_mode
    }

    private func checkFile(_ path: String) throws {
        guard let status = try status(path) else { return }
        if status.st_mode & S_IFMT == S_IFLNK { throw FolderRefusal(path, .link) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FolderRefusal(path, .noFile) }
        guard status.st_uid == geteuid() else { throw FolderRefusal(path, .owner) }
    }

    /// The status of a path, without following a link; `nil` if nothing is there.
    private func status(_ path: String) throws(FileError) -> stat? {
        var status = stat()
        if lstat(path, &status) == 0 { return status }
        if errno == ENOENT { return nil }
        throw FileError("lstat \(path)")
    }

    private func names(in folder: String) throws(FileError) -> [String] {
        guard let names = FolderListing.names(in: folder) else { throw FileError("open \(folder)") }
        return names.sorted()
    }

    private func isFolder(_ path: String) -> Bool {
        var status = stat()
        let found = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        errno = EEXIST
        return found
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
