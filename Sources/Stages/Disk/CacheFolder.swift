import Glibc

/// Where stored responses lie: a database, and beside it the bodies that are too long for it.
struct CacheFolder: Sendable {
    /// The folder's path.
    let path: String

    /// The database's path.
    var databasePath: String { path + "/responses.sqlite" }

    /// The database's file and those that SQLite keeps beside it.
    var databaseFiles: [String] { ["", "-wal", "-shm"].map { databasePath + $0 } }

    /// The file on which processes lock what they fetch.
    var leasesPath: String { path + "/leases" }

    /// The folder of the bodies.
    var bodiesPath: String { path + "/bodies" }

    /// `$XDG_CACHE_HOME/pipeline`, or `~/.cache/pipeline` (XDG Base Directory Specification).
    static var standardPath: String {
        if let base = environment("XDG_CACHE_HOME"), base.hasPrefix("/") { return base + "/pipeline" }
        let home = environment("HOME") ?? getpwuid(getuid()).flatMap { String(cString: $0.pointee.pw_dir) }
        return (home ?? "/tmp") + "/.cache/pipeline"
    }

    /// Makes the folders that are missing, which nobody else may enter.
    func create() throws(FileError) {
        try makeFolder(path)
        try makeFolder(bodiesPath)
    }

    /// Makes the database's file if it is missing, which nobody else may read. SQLite gives its other files its mode.
    ///
    /// Who calls this holds the folder's lock alone. A file that is there is not opened: a process that closes a file ends
    /// all its locks on it (fcntl(2)), those of SQLite too, and then another process takes the log away.
    func createDatabase() throws(FileError) {
        let file = open(databasePath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
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
