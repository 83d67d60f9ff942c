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

    /// Makes what is missing: folders that nobody else may enter, and a database file that nobody else may read. SQLite
    /// gives its other files the database's mode.
    func create() throws(FileError) {
        try makeFolder(path)
        try makeFolder(bodiesPath)
        let file = open(databasePath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileError("open \(databasePath)") }
        close(file)
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
