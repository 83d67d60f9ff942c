import LibC

/// What the file system says of a file. Making one blocks.
package struct FileStatus {
    package let byteCount: Int
    /// Changes whenever the file does.
    package let stamp: String

    /// - Throws: `LoadError` with `fileNotFound` or `fileUnreadable`.
    package init(path: String) throws(LoadError) {
        // The system would read up to the zero byte and find another file.
        guard !path.utf8.contains(0) else {
            throw LoadError(.fileNotFound, subject: "(a path with a zero byte)", "No file can have this name.")
        }
        var status = stat()
        guard path.withPath({ stat($0, &status) }) == 0 else { throw Self.error(path, errno) }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw LoadError(.fileUnreadable, subject: printable(path), "This is a directory; give a file.")
        }
        byteCount = Int(status.st_size)
        stamp = "\(status.st_ino) \(status.st_size) \(status.modified.tv_sec).\(status.modified.tv_nsec)"
    }

    /// Says why a file can't be read, from the system's error number.
    static func error(_ path: String, _ number: Int32) -> LoadError {
        switch number {
        case ENOENT, ENOTDIR: LoadError(.fileNotFound, subject: printable(path), "There is no such file.")
        case EACCES, EPERM:
            LoadError(.fileUnreadable, subject: printable(path), "The file's permissions forbid reading it.")
        case EMFILE, ENFILE:
            LoadError(
                .busy, subject: printable(path),
                "The program has too many files open. Try again, or raise its limit of open files.")
        default:
            LoadError(
                .fileUnreadable, subject: printable(path),
                "The file can't be read: \(String(cString: strerror(number))).")
        }
    }
}
