import Glibc

/// What the system says of a path; links are followed.
struct FileFacts: Sendable {
    enum Kind: Sendable { case regular, folder, other }

    let kind: Kind
    let size: Int
    let mode: UInt32
    /// When it was last written, in nanoseconds since 1970.
    let modified: Int64

    /// `nil` if there is nothing, or nothing that may be seen.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .folder
        default: kind = .other
        }
        size = Int(status.st_size)
        mode = status.st_mode & 0o7777
        modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    }

    static func isFolder(_ path: String) -> Bool { FileFacts(path)?.kind == .folder }

    /// The path without links and dots; `nil` if it names nothing.
    static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Makes a folder and those above it.
    /// - Returns: whether it is there now.
    static func makeFolder(_ path: String) -> Bool {
        if path.isEmpty || isFolder(path) { return true }
        let trimmed = path.last == "/" ? String(path.dropLast()) : path
        if let slash = trimmed.lastIndex(of: "/"), slash != trimmed.startIndex {
            guard makeFolder(String(trimmed[..<slash])) else { return false }
        }
        return mkdir(trimmed, 0o777) == 0 || (errno == EEXIST && isFolder(trimmed))
    }
}
